/** Values that a parameter would take, by its name and by what it declares. */
import fc from 'fast-check';
import { freshKey } from '../support/repositories/ssh_keys.ts';

export type Keywords = {
  type?: string;
  format?: string;
  enum?: string[];
  items?: Keywords;
  'x-kind'?: string;
};

/** Ids that exist in the seeded world, and some that do not. */
const ids = fc.constantFrom(1, 2, 3, 4, 5, 6, 0, -1, 999_999, Number.MAX_SAFE_INTEGER);

const word = fc.constantFrom('bug', 'ui', 'root', 'team', 'x', 'a b', 'Ünïcode', 'v1.0', 'bug,ui');

/** Well-formed, of whatever meaning. */
export const wellFormed = (keywords: Keywords): fc.Arbitrary<unknown> => {
  if (keywords.enum !== undefined) return fc.constantFrom(...keywords.enum);
  if (keywords['x-kind'] === 'id_or_path')
    return fc.oneof(ids, fc.constantFrom('root/first', 'team', 'team/inner/deep', 'nope/nope'));
  if (keywords['x-kind'] === 'names') return fc.oneof(word, fc.array(word, { maxLength: 3 }));
  switch (keywords.type) {
    case 'integer':
      return ids;
    case 'number':
      return fc.double({ noNaN: true });
    case 'boolean':
      return fc.constantFrom(true, false, 'true', 'no', 1, 0);
    case 'array':
      return fc.array(wellFormed(keywords.items ?? {}), { maxLength: 4 });
    default:
      return text(keywords);
  }
};

const text = ({ format }: Keywords): fc.Arbitrary<unknown> => {
  if (format === 'date') return fc.constantFrom('2026-01-01', '2030-12-31');
  if (format === 'date-time')
    return fc.constantFrom('2026-01-01T00:00:00Z', '2020-02-29', '2017-01-05T10:00:00+01:00');
  return word;
};

/** A name that is hardly taken. */
const fresh = fc.nat({ max: 99_999 }).map((n) => `n-${n}`);
const someone = fc.constantFrom('root', 'member', 'stranger');
const branch = fc.constantFrom('main', 'main', 'x', 'bug', 'ui', 'v1.0');
const level = fc.constantFrom(10, 20, 30, 40, 50);
const smallId = fc.integer({ min: 1, max: 12 });

const said = fc.constantFrom(
  'bug',
  'see #1, !2, @member and ~ui',
  '/close',
  '/reopen\n/label ~bug',
  '/estimate 1h\n/spend 30m',
  '/assign @member\n/milestone %bug\n/todo',
  '/title x\n/due 2030-01-01\n/award :heart:',
);

const action = fc.oneof(
  fc.record({ action: fc.constant('create'), file_path: fresh, content: fc.constantFrom('a\n', '') }),
  fc.record({
    action: fc.constantFrom('update', 'delete', 'move', 'chmod'),
    file_path: fc.oneof(fresh, fc.constantFrom('README.md', 'child.yml')),
    previous_path: fc.constant('README.md'),
    content: fc.constant('b\n'),
  }),
);

const byName: Record<string, fc.Arbitrary<unknown>> = {
  project: fc.constantFrom('root/first', 'team/inner/deep', 'member/own'),
  group: fc.constantFrom('team', 'team/inner'),
  body: said,
  note: said,
  description: said,
  note_text: said,
  access_level: level,
  branch: fc.oneof(branch, fresh),
  branch_name: fresh,
  ref: branch,
  ref_name: branch,
  from: branch,
  to: branch,
  start_branch: branch,
  source_branch: branch,
  target_branch: branch,
  default_branch: branch,
  color: fc.constantFrom('#ff0000', '#0f0', 'red'),
  duration: fc.constantFrom('1h', '1w 2d', '-30m'),
  cron: fc.constantFrom('0 0 1 1 *', '*/5 * * * *'),
  cron_timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
  email: fresh.map((name) => `${name}@example.com`),
  password: fc.constant('correct horse battery'),
  username: fresh,
  path: fresh,
  new_name: fresh,
  tag_name: fresh,
  key: fresh.map((name) => name.replace('-', '_')),

  redirect_uri: fc.constant('https://x.example.com/back'),
  actions: fc.array(action, { minLength: 1, maxLength: 2 }),
  refs: fc.constant(['main', 'x']),
  state: fc.constantFrom('pending', 'running', 'success', 'failed', 'canceled'),
  environment: fc.constantFrom('ui', 'x', 'bug'),
  file_path: fc.oneof(fresh, fc.constantFrom('README.md', 'src/new.rb')),
  namespace: fc.constantFrom('root', 'member', 'team', 'team/inner'),
  to_project_id: fc.constantFrom(1, 2, 3),
  user_id: smallId,
  runner_id: smallId,
  content: fc.constantFrom('a\n', 'job: { script: make }'),
  iids: fc.constantFrom([1, 2], '3', 1),
  variables: fc.constantFrom([{ key: 'A', value: 'b' }], { A: 'b' }),
  coverage: fc.constantFrom(0, 12.5, 100),
  info: fc.constant({ features: {} }),
  last_update: fc.constant(''),
  expires_at: fc.constantFrom('2090-12-31', '2090-12-31', '2020-01-01'),
  build_timeout: fc.constantFrom(600, 3600),

  format: fc.constantFrom('zip', 'tar.gz', 'tar'),
  system_id: fc.constant('s_1'),
  project_url: fresh.map((name) => `https://x.example.com/${name}`),
  issues_url: fc.constant('https://x.example.com/:id'),
  parent_id: fc.constantFrom(null, 2),
};

const byEnding: [RegExp, fc.Arbitrary<unknown>][] = [
  [/_url$|^url$/, fresh.map((name) => `https://x.example.com/${name}`)],
  [/username$/, someone],
  [/_level$/, level],
  [/(?:^|_)sha$/, fc.constantFrom('main', 'x')],
];

/** Where names are unique; else words that meet. */
const isNaming = (path: string, name: string): boolean =>
  /^(?:name|title)$/.test(name) && !/issues|merge/.test(path);

const scopesOf = (path: string): string | string[] => {
  if (path === '/applications') return 'api read_api';
  return path.endsWith('deploy_tokens') ? ['read_repository'] : ['api'];
};

/** What somebody who knows the API would send. */
export const validValue = (path: string, name: string, keywords: Keywords): fc.Arbitrary<unknown> => {
  if (name === 'key' && path.includes('keys')) return fc.constant(null).map(() => freshKey());
  if (name === 'scopes') return fc.constant(scopesOf(path));
  if (name === 'name' && path.endsWith('award_emoji'))
    return fc.constantFrom('thumbsup', 'heart', 'star', 'tada');
  if (isNaming(path, name)) return fc.oneof(fresh, word);
  if (keywords.enum !== undefined) return fc.constantFrom(...keywords.enum);
  const known = byName[name] ?? byEnding.find(([ending]) => ending.test(name))?.[1];
  if (known !== undefined) return known;
  return keywords.type === 'integer' ? smallId : wellFormed(keywords);
};
