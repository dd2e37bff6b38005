/**
 * Checks the plain words of STYLE.md that a list can check: gender-neutral, no archaic words or private phrases, and
 * file names that tell their content. The rest is review.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import assert from 'node:assert/strict';

const cwd = join(import.meta.dirname, '..');

const pronouns = ['he', 'him', 'his', 'himself', 'she', 'hers', 'herself'];
const archaic =
  'anew hence hither lest thence thereby therein thereof thither unto whence ' +
  'wherein whereof whither whoever whomever albeit amongst whilst';

/** Phrases that readers have to translate: inverted, or without a noun. */
const dialect =
  /\b(?:the own|own ones|have alike|is had|in vain|unforeseen|went astray|tells whether)\b|\bno more(?=[.;:])|\ball the same(?=[.;:])/i;

/** Further phrases that code and documents avoid: continue, next to, in addition to, represents, links to. */
const looseEnglish =
  /\b(?:goes on|go on|as far as|besides?|stands? for|leads? (?:back )?to|(?<!there )is none)\b/i;

/** Words that say nothing of a file's content to a person who has not read the folder. */
const vagueNames = (
  'act acts apart asked bell beside brief doomed each ends entering found given helpers home kept known left ' +
  'look misc one other own pace patience place places rest side start still talks tell things together told ' +
  'unmoved utils view wanted'
).split(' ');

/** Quoted material that is not ours to reword. */
const isQuoted = (file: string): boolean =>
  file === 'test/words.test.ts' || file.endsWith('common_passwords.ts') || file.startsWith('templates/');

const pattern = new RegExp(`\\b(?:${[...pronouns, ...archaic.split(' ')].join('|')})\\b`, 'i');

/** Tests and records of the past may use more words. */
const isStrict = (file: string): boolean =>
  /^(?:src|gitd|runner|zip|bench|tools)\/|^docs\/[^/]*\.md$|^[A-Z]+\.md$|README\.md$/.test(file) &&
  !/\.test\.ts$|\/migrations\/\d|^CHANGELOG\.md$/.test(file);

const faultsIn = (file: string, text: string): string[] =>
  text.split('\n').flatMap((line, at) => {
    const found =
      pattern.exec(line) ?? dialect.exec(line) ?? (isStrict(file) ? looseEnglish.exec(line) : null);
    const word = found?.[0];
    return word === undefined ? [] : [`${file}:${at + 1}: "${word}" in: ${line.trim().slice(0, 100)}`];
  });

const files = execFileSync('git', ['ls-files', '-z'], { cwd, encoding: 'utf8' })
  .split('\0')
  .filter((file) => /\.(?:ts|md|css|yml)$/.test(file) && !isQuoted(file));

it('uses they, and no archaic words or private phrases (STYLE.md: plain words)', () => {
  assert.equal(faultsIn('a.md', 'The user keeps their role.\nWhoever asks').length, 1);
  assert.equal(faultsIn('a.ts', '// as he likes').length, 1);
  assert.equal(faultsIn('a.yml', '# as he likes').length, 1);
  assert.equal(faultsIn('a.ts', 'const cache = this.head;').length, 0);
  assert.equal(faultsIn('a.ts', '// lists the own keys\n// asks for no more.').length, 2);
  assert.equal(faultsIn('src/a.ts', '// leads to the page').length, 1);
  assert.equal(faultsIn('src/a.test.ts', '// leads to the page').length, 0);
  assert.ok(files.length > 1000);
  assert.deepEqual(
    files.flatMap((file) => faultsIn(file, readFileSync(join(cwd, file), 'utf8'))),
    [],
  );
});

it('names files by their content (STYLE.md: plain words)', () => {
  const nameOf = (file: string): string => basename(file).replace(/(?:\.test)?\.\w+$/, '');
  assert.deepEqual(
    files.filter((file) => vagueNames.includes(nameOf(file))),
    [],
  );
});

/** A declared name that says what was done with the value instead of what it is. */
const vagueDeclaration =
  /^\s*(?:export )?(?:(?:type|interface|class) \w*(?:Given|Wanted|Asked|Told|Meant)\b|(?:type|interface|class|const|let|(?:async )?function) \w*[Ww]hom?ever)/gm;

/** A parameter, local or property of that kind. */
const vagueBinding = /(?:\b(?:const|let) |[({[,] ?|\.\.\.|^\s+|: )given(?=[,:?)\]}]| =|$)/gm;

/** The code without comments and quoted texts. */
const codeOf = (text: string): string =>
  text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '').replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''");

it('declares no types or values with vague names (STYLE.md: plain words)', () => {
  const countVague = (text: string): number => {
    const code = codeOf(text);
    return (code.match(vagueDeclaration) ?? []).length + (code.match(vagueBinding) ?? []).length;
  };
  assert.equal(
    countVague('type Given = { id: number };\nexport type Meant = string;\nconst whoeverAsks = 1;'),
    3,
  );
  assert.equal(
    countVague('type ReviewGiven = string;\nconst given = 1;\nconst f = (given: number) => 1;'),
    3,
  );
  assert.equal(countVague("type GivenName = string;\nthrow badRequest('given');\n// as given, and so on"), 0);
  const declaring = files.filter(
    (file) => file.endsWith('.ts') && countVague(readFileSync(join(cwd, file), 'utf8')) > 0,
  );
  assert.deepEqual(declaring, [], 'name it by what it is');
});
