import { partShown } from '../page_parts.ts';
import { followTarget } from './changes_stream.ts';

/**
 * Updates an open page: `[data-live]` names a stream of server-sent events, or is empty. Then `data-target` may name
 * the record whose changes are followed, as `changes_stream.ts` writes it. After each event, or some seconds, the page
 * is fetched again with the user's current rights, and each `[data-part]` that differs is replaced. All markup comes
 * from the server. The scroll position stays unless `#follow` is ticked, and folded sections stay folded. A redirect,
 * as after the session ended, stops the polling; without an answer the interval doubles.
 */
const pause = 1000;
const maxPause = 60_000;
const pollInterval = 3000;
/** While changes are followed. */
const followedInterval = 30_000;

const isElement = (node: Node): node is Element => node.nodeType === 1;

const morph = (old: Node, fresh: Node): void => {
  if (old.isEqualNode(fresh)) return;
  const isSame = isElement(old) && isElement(fresh) && old.nodeName === fresh.nodeName;
  if (!isSame || fresh.childElementCount === 0) {
    old.parentNode?.replaceChild(fresh.cloneNode(true), old);
    return;
  }
  const [freshNodes, shownNodes] = [[...fresh.childNodes], [...old.childNodes]];
  freshNodes.forEach((child, at) => {
    const current = shownNodes[at];
    if (current === undefined) old.append(child.cloneNode(true));
    else morph(current, child);
  });
  for (const child of shownNodes.slice(freshNodes.length)) child.remove();
  for (const { name, value } of fresh.attributes) if (name !== 'open') old.setAttribute(name, value);
  for (const name of old.getAttributeNames()) {
    if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
};

/** Text of a part, without times: scripts write them in another way. */
const textOf = (part: Element): string => {
  const copy = part.cloneNode(true) as Element;
  for (const time of copy.querySelectorAll('time')) time.remove();
  return copy.textContent.replaceAll(/\s+/g, ' ');
};

/** Returns whether somebody fills a form of a part, or has opened something in it. */
const isOpened = (part: Element): boolean =>
  part.querySelector('details[open]') !== null ||
  document.activeElement?.matches(`#${part.id} :is(textarea, input)`) === true;

/**
 * Updates the parts of a page after a change of its record. A part that is in use stays until a later change.
 * @returns whether any changed
 */
export const updateParts = (page: Document): boolean => {
  let isChanged = false;
  for (const old of document.querySelectorAll<HTMLElement>('[data-part]')) {
    const fresh = page.querySelector(`#${old.id}`);
    if (fresh === null || textOf(old) === textOf(fresh) || isOpened(old)) continue;
    const hadFocus = old.contains(document.activeElement);
    morph(old, fresh);
    // The button that had the focus may be gone.
    if (hadFocus && !old.contains(document.activeElement)) {
      old.tabIndex = -1;
      old.focus({ preventScroll: true });
    }
    isChanged = true;
  }
  startLive();
  return isChanged;
};

const followBox = (): HTMLInputElement | null => document.querySelector<HTMLInputElement>('#follow');

/** Where the page was scrolled to last. */
let lastScroll = 0;

const follow = (): void => {
  if (followBox()?.checked !== true) return;
  document.querySelector('#end')?.scrollIntoView({ block: 'end' });
  lastScroll = scrollY;
};

/** Pixels from the end of the page within which a reader still follows. */
const endZone = 80;

/** Stops following once the reader scrolls up: their place stays. */
const stopAtScrollUp = (box: HTMLInputElement): void => {
  addEventListener('scroll', () => {
    const isAway = document.documentElement.scrollHeight - innerHeight - scrollY > endZone;
    if (scrollY < lastScroll && isAway) box.checked = false;
    lastScroll = scrollY;
  });
};

/** Replaces what changed. Returns false once the page stops to be live. */
const replaceParts = (page: Document): boolean => {
  for (const old of document.querySelectorAll('[data-part]')) {
    const fresh = page.querySelector(`#${old.id}`);
    if (fresh !== null) morph(old, fresh);
  }
  partShown();
  follow();
  return page.querySelector('[data-live]') !== null;
};

/** Refreshes every some seconds, and after each change of a record. Returns what ends it. */
const startPolling = (target: string | undefined, refresh: () => void): (() => void) => {
  let isOver = false;
  let timer = setInterval(refresh, pollInterval);
  const onConnection = (isOpen: boolean): void => {
    clearInterval(timer);
    if (isOver) return;
    timer = setInterval(refresh, isOpen ? followedInterval : pollInterval);
    // Changes before the connection was there are in no event.
    if (isOpen) refresh();
  };
  if (target !== undefined) followTarget(target, { onChange: refresh, onConnection });
  return () => {
    isOver = true;
    clearInterval(timer);
  };
};

/** Live parts whose updates run. */
const started = new WeakSet<Element>();

/** Starts the updates of a page that has a live part, unless they run. */
export const startLive = (): void => {
  const root = document.querySelector<HTMLElement>('[data-live]');
  if (root === null || started.has(root)) return;
  started.add(root);
  let stop = (): void => undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    started.delete(root);
    stop();
  };
  let isAsking = false;
  let hasMissedChange = false;
  let wait = pause;
  const fetchPage = async (): Promise<void> => {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' });
    if (answer.type === 'opaqueredirect') {
      end();
      return;
    }
    wait = pause;
    const text = await answer.text();
    const isLive = !answer.ok || replaceParts(new DOMParser().parseFromString(text, 'text/html'));
    if (!isLive) end();
  };
  const refresh = async (): Promise<void> => {
    hasMissedChange = isAsking;
    if (isAsking || isOver) return;
    isAsking = true;
    try {
      await fetchPage();
    } catch {
      hasMissedChange = true;
      wait = Math.min(2 * wait, maxPause);
    }
    setTimeout(() => {
      isAsking = false;
      if (hasMissedChange) void refresh();
    }, wait);
  };
  const stream = root.dataset['live'] ?? '';
  if (stream === '') {
    stop = startPolling(root.dataset['target'], () => void refresh());
  } else {
    const source = new EventSource(stream);
    stop = () => source.close();
    for (const name of ['log', 'status']) source.addEventListener(name, () => void refresh());
    source.addEventListener('done', () => {
      stop();
      void refresh();
    });
  }
  const box = followBox();
  const holder = box?.closest<HTMLElement>('[hidden]');
  if (holder !== null && holder !== undefined) holder.hidden = false;
  box?.addEventListener('change', follow);
  if (box !== null) stopAtScrollUp(box);
};
