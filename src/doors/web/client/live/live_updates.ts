/**
 * Updates an open page: `[data-live]` names a stream of server-sent events, or is empty. After each event, or some
 * seconds, the page is fetched again with the user's current rights, and each `[data-part]` that differs is replaced.
 * All markup comes from the server. The scroll position stays unless `#follow` is ticked, and folded sections stay
 * folded. A redirect, as after the session ended, stops the polling; without an answer the interval doubles.
 */
const pause = 1000;
const maxPause = 60_000;
const pollInterval = 3000;

const isElement = (node: Node): node is Element => node.nodeType === 1;

const morph = (old: Node, fresh: Node): void => {
  if (old.isEqualNode(fresh)) return;
  const isSame = isElement(old) && isElement(fresh) && old.nodeName === fresh.nodeName;
  if (!isSame || fresh.childElementCount === 0) {
    old.parentNode?.replaceChild(fresh.cloneNode(true), old);
    return;
  }
  const [wanted, there] = [[...fresh.childNodes], [...old.childNodes]];
  wanted.forEach((child, at) => {
    const current = there[at];
    if (current === undefined) old.append(child.cloneNode(true));
    else morph(current, child);
  });
  for (const child of there.slice(wanted.length)) child.remove();
  for (const { name, value } of fresh.attributes) if (name !== 'open') old.setAttribute(name, value);
};

const followBox = (): HTMLInputElement | null => document.querySelector<HTMLInputElement>('#follow');

const follow = (): void => {
  if (followBox()?.checked === true) document.querySelector('#end')?.scrollIntoView({ block: 'end' });
};

/** Replaces what changed. Returns false once the page stops to be live. */
const replaceParts = (page: Document): boolean => {
  for (const old of document.querySelectorAll('[data-part]')) {
    const fresh = page.querySelector(`#${old.id}`);
    if (fresh !== null) morph(old, fresh);
  }
  follow();
  return page.querySelector('[data-live]') !== null;
};

/** Starts the updates of a page that has a live part. */
export const startLive = (): void => {
  const root = document.querySelector<HTMLElement>('[data-live]');
  if (root === null) return;
  let stop = (): void => undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    stop();
  };
  let isAsking = false;
  let isAskedAgain = false;
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
    isAskedAgain = isAsking;
    if (isAsking || isOver) return;
    isAsking = true;
    try {
      await fetchPage();
    } catch {
      isAskedAgain = true;
      wait = Math.min(2 * wait, maxPause);
    }
    setTimeout(() => {
      isAsking = false;
      if (isAskedAgain) void refresh();
    }, wait);
  };
  const stream = root.dataset['live'] ?? '';
  if (stream === '') {
    const timer = setInterval(() => void refresh(), pollInterval);
    stop = () => clearInterval(timer);
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
};
