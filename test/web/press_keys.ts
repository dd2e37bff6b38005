/** Uses a page by its keyboard alone. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

export const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Presses a key until an element with this accessible name has the focus. */
export const pressUntil = async (page: Page, key: string, name: string | RegExp): Promise<void> => {
  const names: string[] = [];
  for (let tries = 0; tries < 120; tries += 1) {
    await page.keyboard.press(key);
    const current = await page.evaluate<string>(`(() => {
      const { activeElement: element } = document;
      const label = element.labels?.[0]?.textContent ?? element.textContent;
      return (element.getAttribute('aria-label') ?? label).replaceAll(/\\s+/g, ' ').trim();
    })()`);
    if (typeof name === 'string' ? current === name : name.test(current)) return;
    names.push(current);
  }
  assert.fail(`${key} does not lead to ${String(name)}, but to ${names.join(', ')}`);
};
