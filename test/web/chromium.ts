/** One real browser for a test file, and what axe finds wrong with a page. */
import chromium from '@sparticuz/chromium';
import axe from 'axe-core';
import { type Browser, type Page, chromium as driver } from 'playwright-core';

/**
 * Not the package's own switches, which turn off what keeps sites apart, and run all in one process, which ends with
 * the first page that is closed. Tests run as root, too, where there is no sandbox.
 */
const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

export const openBrowser = async (): Promise<Browser> =>
  await driver.launch({
    executablePath: await chromium.executablePath(),
    args,
    headless: true,
  });

type Violation = { id: string; impact: string | null; nodes: { html: string }[] };

/** What is serious or critical of what axe finds, a line each. */
export const seriousFaults = async (page: Page): Promise<string[]> => {
  // The policy of our pages lets no script in: axe comes by the debugger, as a console does.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
};
