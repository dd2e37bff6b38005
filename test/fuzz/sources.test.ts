/** The source code itself: what it trims, and the headers that it reads. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { headers } from './header_probes.ts';

/** Headers of answers of other servers, which the code reads as a client. */
const ofAnswers = /^(?:etag|location|retry-after|x-amz-.*|content-length)$/;
const readings = [
  /\bheader\('([a-z-]+)'\)/g,
  /\bheaders\['([a-z-]+)'\]/g,
  /\b(?:request|incoming|raw)\.headers\.([a-z]+)\b/g,
  /\bheaders\.(accept|authorization|cookie|origin|range|referer)\b/g,
];

const readSources = async (pattern: string): Promise<string[]> => {
  const files = await Array.fromAsync(glob(pattern, { exclude: ['**/*.test.ts'] }));
  return await Promise.all(files.map(async (file) => await readFile(file, 'utf8')));
};

/** Trims a text at its end: from each place in a run of what it trims, it reads the rest of the run again. */
const trimming = /\.replace(?:All)?\(\/(?:[^/\\\n]|\\.)*[+*]\$\/[a-z]*, '[^']*'\)/g;
/** From the start to the end of the text: it is tried once. */
const isAnchored = /\(\/\^[^|]*\$\//;
/** The texts before them are short: digests in base64, addresses, versions, and names that were cut. */
const ofShortTexts = [
  String.raw`.replace(/=+$/, '')`,
  String.raw`.replace(/%.*$/, '')`,
  String.raw`.replace(/\D.*$/, '')`,
  String.raw`.replace(/\0.*$/s, '')`,
  String.raw`.replaceAll(/^-+|-+$/g, '')`,
  String.raw`.replaceAll(/^[-.]+|[-.]+$/g, '')`,
];

test('no pattern trims the end of a long text', async () => {
  const texts = await readSources('{src,gitd}/**/*.ts');
  const found = texts.flatMap((text) => text.match(trimming) ?? []);
  assert.ok(found.length > 3);
  assert.deepEqual(
    found.filter((one) => !ofShortTexts.includes(one) && !isAnchored.test(one)),
    [],
  );
});

test('the headers are those that the code reads', async () => {
  const texts = await readSources('src/**/*.ts');
  const read = texts.flatMap((text) =>
    readings.flatMap((reading) => [...text.matchAll(reading)].map(([, name = '']) => name)),
  );
  assert.ok(read.length > 40);
  const missing = new Set(read.filter((name) => !ofAnswers.test(name))).difference(new Set(headers));
  assert.deepEqual([...missing], []);
});
