/** Renders a list while the page is sent, so that the browser shows its start early. */
import { setImmediate as afterOtherWork } from 'node:timers/promises';
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import { type Html, streamed } from '../html.ts';

/** Characters of diffs from which a page is sent while it is rendered. */
const minStreamed = 64 * 1024;

/** Returns whether diffs are so long that a reader would wait for them. */
export const isLongDiff = (files: readonly Pick<FileDiff, 'diff'>[]): boolean =>
  files.reduce((sum, { diff }) => sum + diff.length, 0) >= minStreamed;

/**
 * Renders items in their order, one ahead of what was sent. When the client disconnects, it stops rendering.
 */
export const streamInOrder = <T>(items: readonly T[], render: (item: T) => Promise<Html>): Html =>
  streamed(async function* () {
    // Earlier parts are sent first.
    await afterOtherWork();
    let next: Promise<Html> | null = null;
    for (const [at, item] of items.entries()) {
      const current: Promise<Html> = next ?? render(item);
      const following = items[at + 1];
      next = following === undefined ? null : render(following);
      // A failure is thrown when the item is awaited, or by nobody if the client disconnects first.
      next?.catch(() => undefined);
      yield await current;
    }
  });
