import type { Html } from '../../../parts/html.ts';

/** A check of a merge request as a line of the merge box. */
export type CheckLine = {
  state: 'ok' | 'bad' | 'wait' | 'off';
  text: Html;
  remedy?: Html | null | false;
  /** Blocks the merge until it is done. */
  isBlocking: boolean;
};
