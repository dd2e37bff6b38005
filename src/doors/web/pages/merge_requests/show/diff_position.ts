/** Renders the file and line that a diff thread refers to. */
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import type { ShownPosition } from '../../../parts/timeline/load_timeline.ts';

/** `src/split.ts, line 41` */
export const positionText = ({ new_path, old_path, new_line, old_line }: ShownPosition): string => {
  const line = new_line ?? old_line ?? null;
  const path = new_line === null && old_line !== null ? old_path : new_path;
  return line === null ? path : `${path}, line ${line}`;
};

/** @param path address of the thread; `head` is the newest commit */
export const positionPart = (
  position: ShownPosition,
  { path, head }: { path: string; head: string | null },
): Html =>
  html`<p class="thread-place">${icon('file')} <a href="${path}"><code>${positionText(position)}</code></a>${
    position.head_sha !== head && html` <span class="badge">On an earlier version</span>`
  }</p>`;
