/** What a browser loads for a page, as it is sent: at most 30 KB of scripts and 20 KB of styles. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '../../../../dist/assets');
const built = Object.values(
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Record<string, string>,
);

const sizeOf = (ending: string): number =>
  built
    .filter((name) => name.endsWith(ending))
    .reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0);

test('all scripts and all styles together stay within what one page may load', () => {
  assert.ok(sizeOf('.js') > 0 && sizeOf('.css') > 0, built.join(' '));
  assert.ok(sizeOf('.js') <= 30_000, `${sizeOf('.js')} bytes of scripts`);
  assert.ok(sizeOf('.css') <= 20_000, `${sizeOf('.css')} bytes of styles`);
});
