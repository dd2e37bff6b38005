/**
 * Keeps typed text until it is sent: texts of forms with a Markdown field, and texts of fields `[data-draft]`, survive
 * a reload, a closed window and a request that failed. They stay in this browser, for the user who typed them, until
 * they are sent, discarded or a month old, or the user signs out.
 */
type Draft = {
  text: string;
  /**
   * Original value of the field. A draft of a different original is dropped, so that it cannot undo another user's
   * edit.
   */
  before: string;
  /** Milliseconds since 1970. */
  savedAt: number;
  /** Submitted, and not known to be accepted. */
  isSent: boolean;
};

type Field = HTMLTextAreaElement | HTMLInputElement;

const prefix = 'draft ';
const maxAge = 30 * 86_400_000;
const maxDrafts = 50;

/** Hidden fields that tell the forms at one address apart. */
const placeFields = ['path', 'old_path', 'line', 'discussion_id', 'last_commit_id'];

/** Longest text that is kept: browsers have room for some of them. */
const maxLength = 500_000;

const isField = (element: unknown): element is Field =>
  (element instanceof HTMLTextAreaElement && element.closest('.markdown-editor, [data-draft]') !== null) ||
  (element instanceof HTMLInputElement &&
    element.name === 'title' &&
    element.form?.querySelector('.markdown-editor') !== null);

const fieldsOf = (form: HTMLFormElement): Field[] => [...form.elements].filter(isField);

const keyOf = (field: Field): string | null => {
  const { user } = document.body.dataset;
  if (user === undefined || field.form === null) return null;
  const form = new FormData(field.form);
  const place = placeFields.map((name) => form.get(name)).filter((value) => typeof value === 'string');
  // Reads the attribute, because a field named `action` would hide the property.
  const action = field.form.getAttribute('action') ?? '';
  return prefix + JSON.stringify([user, location.pathname, action, field.name, ...place]);
};

const read = (key: string): Draft | null => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
};

/** Drafts are a convenience: a browser without space or permission works without them. */
const write = (key: string, draft: Draft): void => {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // Same limit as above.
  }
};

const savedKeys = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith(prefix));

const removeAll = (): void => savedKeys().forEach((key) => localStorage.removeItem(key));

/** Where the text of a field was saved last: the form at lines of a change moves with its text. */
const lastKeys = new WeakMap<Field, string>();

/** Original values of fields, if the page shows the text of a draft, for example with its preview. */
const originals = new WeakMap<Field, string>();

const save = (field: Field): void => {
  const key = keyOf(field);
  const last = lastKeys.get(field);
  if (last !== undefined && last !== key) localStorage.removeItem(last);
  if (key === null) return;
  lastKeys.set(field, key);
  const { value: text } = field;
  const before = originals.get(field) ?? field.defaultValue;
  if (text === before || text.length > maxLength) localStorage.removeItem(key);
  else write(key, { text, before, savedAt: Date.now(), isSent: false });
};

const discard = (field: Field, key: string, notice: Element): void => {
  localStorage.removeItem(key);
  field.value = field.defaultValue;
  notice.remove();
  field.focus();
};

/** Says that a text was restored, with a button that discards it. */
const showNotice = (field: Field, key: string): void => {
  const notice = document.createElement('p');
  notice.className = 'hint restored';
  notice.setAttribute('role', 'status');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'small';
  button.textContent = 'Discard';
  button.addEventListener('click', () => discard(field, key, notice));
  notice.append('Restored what you had not sent. ', button);
  field.closest('.field')?.append(notice);
};

const restore = (field: Field): void => {
  const key = keyOf(field);
  const draft = key === null ? null : read(key);
  if (key === null || draft === null || draft.isSent || field.value !== field.defaultValue) return;
  if (draft.text === field.defaultValue) return void originals.set(field, draft.before);
  if (draft.before !== field.defaultValue) return localStorage.removeItem(key);
  field.value = draft.text;
  // Opens the forms in which the text is.
  for (let at = field.closest('details'); at !== null; at = at.parentElement?.closest('details') ?? null)
    at.open = true;
  showNotice(field, key);
};

const markSent = (form: HTMLFormElement): void => {
  for (const field of fieldsOf(form)) {
    save(field);
    const key = keyOf(field);
    const draft = key === null ? null : read(key);
    if (key !== null && draft !== null) write(key, { ...draft, isSent: true });
  }
};

/**
 * Drops the drafts that were sent, once the page after them shows that somebody is signed in. Error pages and the
 * sign-in page do not: what was sent may be lost, so it is a draft again.
 */
const settleSent = (): void => {
  const isAccepted = document.body.dataset['user'] !== undefined;
  for (const key of savedKeys()) {
    const draft = read(key);
    if (draft?.isSent !== true) continue;
    if (isAccepted) localStorage.removeItem(key);
    else write(key, { ...draft, isSent: false });
  }
};

const dropOld = (): void => {
  const drafts = savedKeys().map((key) => ({ key, savedAt: read(key)?.savedAt ?? 0 }));
  drafts.sort((a, b) => b.savedAt - a.savedAt);
  for (const [index, { key, savedAt }] of drafts.entries())
    if (index >= maxDrafts || savedAt < Date.now() - maxAge) localStorage.removeItem(key);
};

export const startDrafts = (): void => {
  try {
    settleSent();
    dropOld();
  } catch {
    return; // a browser without storage
  }
  for (const form of document.forms) fieldsOf(form).forEach(restore);
  document.addEventListener('input', ({ target }) => {
    if (isField(target)) save(target);
  });
  // Forms that open later, such as forms at lines of a change.
  document.addEventListener('focusin', ({ target }) => {
    if (isField(target)) restore(target);
  });
  addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    if (form.getAttribute('action') === '/users/sign_out') removeAll();
    // Some buttons only show the text in another way.
    else if (event.submitter?.dataset['keepsDraft'] === undefined) markSent(form);
  });
};
