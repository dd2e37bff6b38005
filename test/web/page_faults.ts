/** What is wrong with a page in a browser: landmarks, width, what axe finds, and what the Tab key does not reach. */
import type { Page } from 'playwright-core';
import { seriousFaults } from './chromium.ts';

/** In the page: says which landmarks are missing, or have no name that tells them apart. */
const landmarkFaults = `(() => {
  const faults = [];
  if (document.querySelectorAll('main').length !== 1) faults.push('has no single main landmark');
  if (document.querySelector('body > header, .topbar') === null) faults.push('has no banner');
  const names = [...document.querySelectorAll('nav')].map((nav) => nav.getAttribute('aria-label') ?? '');
  if (names.includes('')) faults.push('has a nameless navigation');
  if (new Set(names).size < names.length) faults.push('has navigations of one name: ' + names.join(', '));
  return faults.join(', ');
})()`;

export const findFaults = async (page: Page, width: number): Promise<string[]> => {
  // A README has headings of its own.
  const headings = await page.locator('h1:not(.prose *)').count();
  const landmarks = String(await page.evaluate(landmarkFaults));
  const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
  return [
    ...(headings === 1 ? [] : [`has ${headings} first-level headings`]),
    ...(landmarks === '' ? [] : [landmarks]),
    ...(needed <= width ? [] : [`needs ${needed} pixels of ${width}`]),
    ...(await seriousFaults(page)),
  ];
};

/** In the page: starts a walk. Buttons of a toolbar are reached by the arrow keys from its first one. */
const startWalk = `{
  const controls = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';
  const visited = new Set();
  let last = null;
  const describe = (element) => element.outerHTML.slice(0, 160);
  // The frame of a field may show the focus in its place.
  const isMarked = (element) => {
    for (const one of [element, element.parentElement, element.parentElement?.parentElement]) {
      const { outlineStyle, outlineWidth } = one ? getComputedStyle(one) : {};
      if (one && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) return true;
    }
    return false;
  };
  const isReached = (element) =>
    visited.has(element) ||
    (element.type === 'radio' && [...visited].some(({ type, name }) => type === 'radio' && name === element.name));
  const canReach = (element) =>
    element.checkVisibility({ visibilityProperty: true }) &&
    !element.matches(':disabled, [aria-hidden="true"] *, [aria-hidden="true"], [inert] *') &&
    !(element.tabIndex === -1 && element.matches('[role=toolbar] *'));
  globalThis.walk = {
    step: () => {
      const element = document.activeElement;
      // A date has several stops.
      const isSame = element === last;
      last = element;
      if (element === null || element === document.body || element === document.documentElement) return 'away';
      if (isSame) return 'next';
      if (visited.has(element)) return 'again';
      visited.add(element);
      return isMarked(element) ? 'next' : 'shows no focus: ' + describe(element);
    },
    missed: () =>
      [...document.querySelectorAll(controls)]
        .filter((element) => canReach(element) && !isReached(element))
        .map((element) => 'is not reached by Tab: ' + describe(element)),
  };
}`;

/** Steps of a walk; a longer page is walked in part. */
const maxSteps = 200;

/** Presses Tab until the focus comes round: each control has a visible focus, and none is left out. */
export const findFocusFaults = async (page: Page): Promise<string[]> => {
  await page.evaluate(startWalk);
  const faults: string[] = [];
  for (let steps = 0; steps < maxSteps; steps += 1) {
    await page.keyboard.press('Tab');
    const said = String(await page.evaluate('walk.step()'));
    if (said === 'again') return [...faults, ...(await page.evaluate<string[]>('walk.missed()'))];
    if (said !== 'next' && said !== 'away') faults.push(said);
  }
  return faults;
};
