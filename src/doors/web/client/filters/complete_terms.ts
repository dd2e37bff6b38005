/**
 * Completes the last term in the box of a list's filter `[data-terms]`: `la` to `label:`, and `label:b` to the labels of
 * the project or group, which are loaded when the first one is typed. Options are whole texts of the box, for browsers
 * compare them with what is typed.
 */
import { type Option, loadNames, showOptions } from './suggestions.ts';

type Values = { values: readonly string[]; url?: string; field?: string };
type Terms = Readonly<Record<string, Values>>;

/** The last term: with an open quote, or up to the end. */
const lastTerm = (text: string): string => (/\S*:"[^"]*$/.exec(text) ?? /\S*$/.exec(text) ?? [''])[0];

/** Loads each address once. Without an answer, values are typed. */
const makeLoader = (): ((values: Values) => Promise<readonly string[]>) => {
  const loaded = new Map<string, Promise<string[]>>();
  return async ({ values, url, field = '' }) => {
    if (url === undefined) return values;
    const names = loaded.get(url) ?? loadNames(url, field).catch(() => []);
    loaded.set(url, names);
    return [...values, ...(await names)];
  };
};

const complete = async (
  text: string,
  terms: Terms,
  load: (values: Values) => Promise<readonly string[]>,
): Promise<Option[]> => {
  const term = lastTerm(text);
  const [, minus = '', name = '', colon = ''] = /^(-?)(\w*)(:?)/.exec(term) ?? [];
  const before = `${text.slice(0, text.length - term.length)}${minus}`;
  if (colon === '') return Object.keys(terms).map((one) => ({ value: `${before}${one}:` }));
  const word = name.toLowerCase();
  const values = Object.hasOwn(terms, word) ? terms[word] : undefined;
  if (values === undefined) return [];
  return (await load(values)).map((value) =>
    // Browsers compare the label, too, for somebody who types no quote.
    /\s/.test(value)
      ? { value: `${before}${name}:"${value}"`, label: `${before}${name}:${value}` }
      : { value: `${before}${name}:${value}` },
  );
};

const start = (field: HTMLInputElement): void => {
  const terms = JSON.parse(field.dataset['terms'] ?? '{}') as Terms;
  const load = makeLoader();
  const update = async (): Promise<void> => {
    const text = field.value;
    const options = await complete(text, terms, load);
    if (text === field.value) showOptions(field, text === '' ? [] : options);
  };
  field.addEventListener('input', () => void update());
};

export const startTerms = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-terms]')) start(field);
};
