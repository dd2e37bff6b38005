import { hash } from 'node:crypto';

/**
 * The only script of our pages. It updates an open page: `[data-live]` names a stream of server-sent events, or is
 * empty. After each event, or some seconds, the script fetches the page again with the user's current rights and
 * replaces each `[data-part]` that differs. All markup comes from the server. The scroll position stays unless
 * `#follow` is ticked, and folded sections stay folded. A redirect, as after the session ended, stops the polling;
 * without an answer the interval doubles.
 */
export const liveScript = `'use strict';
(() => {
  const root = document.querySelector('[data-live]');
  if (root === null) return;
  const pause = 1000;
  const longestPause = 60000;
  const poll = 3000;
  let end = () => undefined;
  const morph = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== 1 || old.nodeName !== fresh.nodeName || fresh.childElementCount === 0) {
      old.replaceWith(fresh.cloneNode(true));
      return;
    }
    const wanted = [...fresh.childNodes];
    const there = [...old.childNodes];
    wanted.forEach((child, at) => {
      if (at < there.length) morph(there[at], child);
      else old.append(child.cloneNode(true));
    });
    there.slice(wanted.length).forEach((child) => child.remove());
    for (const { name, value } of fresh.attributes) if (name !== 'open') old.setAttribute(name, value);
  };
  const follow = () => {
    const box = document.getElementById('follow');
    if (box !== null && box.checked) document.getElementById('end').scrollIntoView({ block: 'end' });
  };
  let isAsking = false;
  let isAskedAgain = false;
  let wait = pause;
  const refresh = async () => {
    isAskedAgain = isAsking;
    if (isAsking) return;
    isAsking = true;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' });
      if (answer.type === 'opaqueredirect') {
        end();
        return;
      }
      wait = pause;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const old of document.querySelectorAll('[data-part]')) {
        const fresh = page.getElementById(old.id);
        if (answer.ok && fresh !== null) morph(old, fresh);
      }
      follow();
      if (answer.ok && page.querySelector('[data-live]') === null) end();
    } catch {
      isAskedAgain = true;
      wait = Math.min(2 * wait, longestPause);
    }
    setTimeout(() => {
      isAsking = false;
      if (isAskedAgain) void refresh();
    }, wait);
  };
  if (root.dataset.live === '') end = clearInterval.bind(null, setInterval(refresh, poll));
  else {
    const stream = new EventSource(root.dataset.live);
    end = () => stream.close();
    for (const name of ['log', 'status']) stream.addEventListener(name, () => void refresh());
    stream.addEventListener('done', () => {
      end();
      void refresh();
    });
  }
  const box = document.getElementById('follow');
  if (box !== null) {
    box.closest('[hidden]').hidden = false;
    box.addEventListener('change', follow);
  }
})();
`;

export const liveScriptPath = `/-/assets/live-${hash('sha256', liveScript).slice(0, 12)}.js`;
