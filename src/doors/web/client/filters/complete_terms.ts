/**
 * Completes the last term in the box of a list's filter `[data-terms]`: `la` to `label:`, and `label:b` to the labels of
 * the project or group, which are loaded when the first one is typed. Options are whole texts of the box, for browsers
 * compare them with what is typed.
 */
import { type Option, type Source, makeSearch, showOptions } from './suggestions.ts';

type Values = { values: readonly string[] } & Partial<Source>;
type Terms = Readonly<Record<string, Values>>;

/** The last term: with an open quote, or up to the end. */
const lastTerm = (text: string): string => (/\S*:"[^"]*$/.exec(text) ?? /\S*$/.exec(text) ?? [''])[0];

type Load = (values: Values, typed: string) => Promise<readonly string[]>;

const makeLoader = (): Load => {
  const searches = new Map<string, ReturnType<typeof makeSearch>>();
  return async ({ values, url, field = '', search = '' }, typed) => {
    if (url === undefined) return values;
    const find = searches.get(url) ?? makeSearch({ url, field, search });
    searches.set(url, find);
    return [...values, ...(await find(typed)).map(({ value }) => value)];
  };
};

const complete = async (text: string, terms: Terms, load: Load): Promise<Option[]> => {
  const term = lastTerm(text);
  const [whole = '', minus = '', name = '', colon = ''] = /^(-?)([\w-]*)(:?)/.exec(term) ?? [];
  const before = `${text.slice(0, text.length - term.length)}${minus}`;
  if (colon === '') return Object.keys(terms).map((one) => ({ value: `${before}${one}:` }));
  const word = name.toLowerCase();
  const values = Object.hasOwn(terms, word) ? terms[word] : undefined;
  if (values === undefined) return [];
  const typed = term.slice(whole.length).replace(/^["@]+/, '');
  return (await load(values, typed)).map((value) =>
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
