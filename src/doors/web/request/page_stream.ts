/** Sends a page while it is rendered. */
import { Readable } from 'node:stream';
import { type Html, html } from '../parts/html.ts';

const brokenPage = html`<p class="flash alert" role="alert">The rest of this page could not be shown. Reload the page.</p>`;

const withNotice = async function* withNotice(page: Html): AsyncGenerator<string | Buffer> {
  try {
    yield* page.chunks();
  } catch (error) {
    yield brokenPage.text;
    throw error;
  }
};

/**
 * Returns a page with streamed parts. After a failure the reader sees a notice, and the connection breaks: programs and
 * caches must not take what came for the whole page.
 */
export const pageStream = (page: Html): Readable => Readable.from(withNotice(page));
