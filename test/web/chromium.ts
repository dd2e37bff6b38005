/** The real browser of the tests, and what axe finds wrong with a page. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import axe from 'axe-core';
import { type Browser, type Page, chromium as driver } from 'playwright-core';

/**
 * Not the package's own switches, which turn off what keeps sites apart, and run all in one process, which ends with
 * the first page that is closed. Tests run as root, too, where there is no sandbox.
 */
const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

const cache = join(import.meta.dirname, '../../node_modules/.cache/gantry');

/**
 * Returns the path of the browser's program. The package unpacks it for seconds into TMPDIR, which is another folder in
 * each process of a test run: keep it, for each version.
 */
const findProgram = async (): Promise<string> => {
  const about = new URL('../package.json', import.meta.resolve('@sparticuz/chromium'));
  const { version } = JSON.parse(readFileSync(about, 'utf8')) as { version: string };
  const kept = join(cache, `chromium-${version}`);
  const program = join(kept, 'chromium');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const own = mkdtempSync(join(cache, 'unpacking-'));
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = own;
  try {
    await chromium.executablePath();
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
  }
  try {
    renameSync(own, kept);
  } catch (error) {
    if (!existsSync(program)) throw error;
    rmSync(own, { recursive: true, force: true }); // another process was first
  }
  return program;
};

let shared: Promise<Browser> | undefined;
let users = 0;
let closing: NodeJS.Timeout | undefined;
/** Milliseconds that the browser waits for the next test file of this process. */
const exitTimeout = 3000;

/** Opens the browser that the test files of a process share. Each test has its own context, which shares nothing. */
export const openBrowser = async (): Promise<Browser> => {
  users += 1;
  clearTimeout(closing);
  shared ??= findProgram().then((executablePath) => driver.launch({ executablePath, args, headless: true }));
  return await shared;
};

/** Ends the use of the browser. It closes unless another test file opens it soon. */
export const releaseBrowser = (): void => {
  users -= 1;
  if (users > 0) return;
  closing = setTimeout(() => {
    const browser = shared;
    shared = undefined;
    void browser?.then((one) => one.close());
  }, exitTimeout);
};

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
