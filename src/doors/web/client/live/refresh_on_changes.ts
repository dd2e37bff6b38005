/** Refreshes a part of the page after changes of its record, when the window gets the focus, and from time to time. */
import { partShown } from '../page_parts.ts';
import { followTarget } from './changes_stream.ts';

/** Milliseconds between refreshes: where changes are followed, and otherwise from the first to the last. */
const followedWait = 300_000;
const firstWait = 10_000;
const maxWait = 60_000;

/** Combines simultaneous changes into one refresh. */
const settling = 150;

type Part = {
  /** The record, or its kind, as `changes_stream.ts` compares them. */
  target: string;
  /** Returns the address that has the part. */
  address: () => string;
  /** Updates the page. Returns whether anything changed. */
  merge: (page: Document) => boolean;
};

/** Returns a function that refreshes the part immediately. */
export const refreshOnChanges = ({ target, address, merge }: Part): (() => void) => {
  let [isAsking, hasMissedChange] = [false, false];
  const ask = async (): Promise<boolean> => {
    const answer = await fetch(address(), { headers: { accept: 'text/html' }, redirect: 'manual' });
    const text = answer.ok ? await answer.text() : '';
    const isMerged = merge(new DOMParser().parseFromString(text, 'text/html'));
    if (isMerged) partShown();
    return isMerged;
  };
  const refresh = async (): Promise<boolean> => {
    hasMissedChange = isAsking;
    if (isAsking || document.visibilityState !== 'visible') return false;
    isAsking = true;
    try {
      return await ask();
    } catch {
      return false;
    } finally {
      isAsking = false;
      if (hasMissedChange) void refresh();
    }
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refreshSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), settling);
  };
  let [wait, isFollowed] = [firstWait, false];
  let pending: ReturnType<typeof setTimeout> | undefined;
  const schedule = (): void => {
    clearTimeout(pending);
    pending = setTimeout(
      () => {
        void refresh().then((isChanged) => {
          wait = isChanged ? firstWait : Math.min(1.5 * wait, maxWait);
          schedule();
        });
      },
      isFollowed ? followedWait : wait,
    );
  };
  const onConnection = (isOpen: boolean): void => {
    isFollowed = isOpen;
    schedule();
  };
  onConnection(followTarget(target, { onChange: refreshSoon, onConnection }));
  addEventListener('focus', () => void refresh());
  document.addEventListener('visibilitychange', () => void refresh());
  return () => void refresh();
};
