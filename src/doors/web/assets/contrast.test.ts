/** Contrast of highlighted code with its backgrounds, in both schemes (WCAG 2.2, 1.4.3). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const readStyles = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');

const pair = /light-dark\((#[\da-f]{3,6}), (#[\da-f]{3,6})\)/;

const getLuminance = (color: string): number => {
  const digits = color.slice(1);
  const full = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(full.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const getContrast = (first: string, second: string): number => {
  const [bright = 0, dark = 0] = [getLuminance(first), getLuminance(second)].toSorted((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
};

test('highlighted code is legible on the backgrounds of files, marked lines and diffs', () => {
  const tokens = readStyles('tokens.css');
  const backgrounds = ['canvas', 'surface', 'sunken', 'amber-wash', 'add', 'add-word', 'del', 'del-word'].map(
    (name) => [name, pair.exec(tokens.split(`--${name}: `)[1] ?? '')?.slice(1) ?? []] as const,
  );
  const rules = [...readStyles('code.css').matchAll(/(\.hljs-[^{}]+)\{\s*color: ([^;]+);/g)];
  assert.ok(rules.length >= 6);
  for (const [, selector = '', value = ''] of rules) {
    const colors = pair.exec(value)?.slice(1) ?? [];
    for (const [background, shades] of backgrounds) {
      for (const scheme of [0, 1]) {
        const contrast = getContrast(colors[scheme] ?? '#000', shades[scheme] ?? '#000');
        assert.ok(contrast >= 4.5, `${selector.trim()} on ${background}: ${contrast.toFixed(2)}`);
      }
    }
  }
});
