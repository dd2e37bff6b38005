/** Known attacks in a real browser, on a page without a policy: the rendered texts alone must be harmless. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from '../../src/doors/markdown/convert/convert.ts';
import { makeFormulaRenderer } from '../../src/doors/markdown/convert/math/render_formulas.ts';
import { xssVectors } from '../support/xss_vectors.ts';
import { openBrowser, releaseBrowser } from './chromium.ts';
import { skip } from './web.ts';

const origin = 'http://git.example.com';

const write = (text: string): string =>
  convert(
    text,
    {
      project: { id: 4, full_path: 'group/project' },
      ref: 'main',
      path: null,
      baseUrl: origin,
      isAbsolute: false,
      diagramServer: null,
      imageKey: 'ab'.repeat(32),
      hasReferences: false,
    },
    makeFormulaRenderer(),
  )
    .map((part) => (typeof part === 'string' ? part : part.plain))
    .join('');

const documentOf = (texts: readonly string[]): string =>
  `<!doctype html><meta charset="utf-8"><title>x</title>${texts.map((text) => `<section class="text">${text}</section>`).join('\n')}<p id="end">`;

/** Runs in the page. Returns what could act, by element. */
const findActive = (): string[] => {
  type Attribute = { name: string; value: string };
  type Found = {
    tagName: string;
    namespaceURI: string;
    attributes: Iterable<Attribute>;
    href?: unknown;
    outerHTML: string;
  };
  const { document } = globalThis as unknown as {
    document: { querySelectorAll: (selector: string) => Iterable<Found> };
  };
  const allowed = /^(?:https?|mailto|tel|ftp|ircs?|xmpp):/;
  return [...document.querySelectorAll('.text *')].flatMap((found) => {
    const isActive = [...found.attributes].some(
      ({ name }) => name.startsWith('on') || ['style', 'srcdoc', 'srcset', 'formaction', 'is'].includes(name),
    );
    const isFormula =
      found.namespaceURI === 'http://www.w3.org/1998/Math/MathML' &&
      /^m(?!action$|glyph$|alignmark$)[a-z]+$|^none$/.test(found.tagName);
    const isElement = /^[A-Z][A-Z0-9]*$/.test(found.tagName) || isFormula;
    const isHidden = !isElement || ['SCRIPT', 'STYLE'].includes(found.tagName);
    const href = typeof found.href === 'string' && found.href !== '' && !allowed.test(found.href);
    return isActive || isHidden || href ? [found.outerHTML.slice(0, 200)] : [];
  });
};

/** Runs in the page. Does with every element what a handler could wait for. */
const touchAll = (): void => {
  const page = globalThis as unknown as {
    document: {
      querySelectorAll: (selector: string) => Iterable<{ dispatchEvent: (event: object) => void }>;
      addEventListener: (name: string, listener: (event: { preventDefault: () => void }) => void) => void;
    };
    Event: new (name: string, options: object) => object;
  };
  page.document.addEventListener('click', (event) => event.preventDefault());
  for (const element of page.document.querySelectorAll('.text *')) {
    for (const name of ['mouseover', 'pointerenter', 'focus', 'toggle', 'error', 'load', 'click']) {
      element.dispatchEvent(new page.Event(name, { bubbles: true, cancelable: true }));
    }
  }
};

const look = async (html: string) => {
  const browser = await openBrowser();
  const page = await browser.newPage();
  try {
    const dialogs: string[] = [];
    const requests = new Set<string>();
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.route('**/*', async (route) => {
      const url = new URL(route.request().url());
      if (route.request().isNavigationRequest() && url.pathname === '/text') {
        await route.fulfill({ contentType: 'text/html', body: html });
        return;
      }
      requests.add(url.origin);
      await route.abort();
    });
    await page.goto(`${origin}/text`);
    const sections = await page.locator('body > .text').count();
    const hasEnd = await page.locator('body > #end').count();
    const active = await page.evaluate(findActive);
    await page.evaluate(touchAll);
    const mark = await page.evaluate(
      () => (globalThis as unknown as { document: { xss?: unknown } }).document.xss,
    );
    requests.delete(origin);
    return { sections, hasEnd, active, mark, dialogs, requests: [...requests], url: page.url() };
  } finally {
    await page.close();
    releaseBrowser();
  }
};

test('rendered attacks neither run, nor load, nor leave their place', { skip }, async () => {
  assert.deepEqual(await look(documentOf(xssVectors.map(write))), {
    sections: xssVectors.length,
    hasEnd: 1,
    active: [],
    mark: undefined,
    dialogs: [],
    requests: [],
    url: `${origin}/text`,
  });
});

test('attacks within formulas neither run, nor load, nor leave their place', { skip }, async () => {
  const formulas = xssVectors.map((text) => `$\`${text}\`$ x\n\n$$\n\\text{${text}}\n$$\n\n$$${text}$$`);
  assert.deepEqual(await look(documentOf(formulas.map(write))), {
    sections: xssVectors.length,
    hasEnd: 1,
    active: [],
    mark: undefined,
    dialogs: [],
    requests: [],
    url: `${origin}/text`,
  });
});

test('the same page shows that an attack runs where nothing is removed', { skip }, async () => {
  const { dialogs, active, requests } = await look(
    documentOf(['<img src=https://evil.example/x onerror=alert(1)>']),
  );
  assert.deepEqual([dialogs[0], active.length, requests], ['1', 1, ['https://evil.example']]);
});
