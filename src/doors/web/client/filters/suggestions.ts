/** A suggestion for a field. @property label shown next to the value, and compared with the typed text */
export type Option = { value: string; label?: string };

/** A list of the API: the field of its records that is a value, and the parameter that searches it. */
export type Source = { url: string; field: string; search: string; label?: string | undefined };

/** Replaces what the browser proposes for a field. */
export const showOptions = (field: HTMLInputElement, options: readonly Option[]): void => {
  const elements = options.map((properties) => Object.assign(document.createElement('option'), properties));
  field.list?.replaceChildren(...elements);
};

const fetchOptions = async ({ url, field, search, label }: Source, typed: string): Promise<Option[]> => {
  const address = new URL(url, location.href);
  if (typed !== '') address.searchParams.set(search, typed);
  const answer = await fetch(address, { headers: { accept: 'application/json' } });
  if (!answer.ok) return [];
  const records = (await answer.json()) as Record<string, unknown>[];
  return records.map((record) => ({
    value: String(record[field]),
    ...(label !== undefined && { label: String(record[label]) }),
  }));
};

/** Records of a first page that may not be all. */
const fewest = 8;

/**
 * Returns a function that loads options for the typed text. The first page is loaded once. If it may be incomplete, the
 * API searches for the typed text. Without an answer there are no options, and values are typed.
 */
export const makeSearch = (source: Source): ((typed: string) => Promise<Option[]>) => {
  const pages = new Map<string, Promise<Option[]>>();
  const load = async (typed: string): Promise<Option[]> => {
    const loaded = pages.get(typed) ?? fetchOptions(source, typed).catch(() => []);
    pages.set(typed, loaded);
    return await loaded;
  };
  const size = Number(/[?&]per_page=(\d+)/.exec(source.url)?.[1] ?? fewest);
  return async (typed) => {
    const first = await load('');
    if (typed === '' || first.length < size) return first;
    return await load(typed);
  };
};

/** Milliseconds without typing after which the API is asked. */
const delay = 150;

const fields = new WeakMap<HTMLInputElement, ReturnType<typeof makeSearch>>();

const searchOf = (field: HTMLInputElement): ReturnType<typeof makeSearch> => {
  const { suggest = '', suggestField = '', suggestSearch = '', suggestLabel: label } = field.dataset;
  const search =
    fields.get(field) ?? makeSearch({ url: suggest, field: suggestField, search: suggestSearch, label });
  fields.set(field, search);
  return search;
};

/** Suggests values. In a field for several names, separated by commas, the last name is completed. */
const update = async (field: HTMLInputElement): Promise<void> => {
  const text = field.value;
  const before = text.slice(0, text.lastIndexOf(',') + 1);
  const options = await searchOf(field)(
    text
      .slice(before.length)
      .trim()
      .replace(/^[#@~%]/, ''),
  );
  if (text !== field.value) return;
  showOptions(
    field,
    options.map(({ value, ...rest }) => ({ ...rest, value: before === '' ? value : `${before} ${value}` })),
  );
};

const toField = (target: EventTarget | null): HTMLInputElement | null =>
  target instanceof HTMLInputElement && target.dataset['suggest'] !== undefined ? target : null;

/** Suggests values of the API in fields `[data-suggest]`, also in replaced parts of the page. */
export const startSuggestions = (): void => {
  let timer = 0;
  document.addEventListener('focusin', ({ target }) => {
    const field = toField(target);
    if (field !== null && !fields.has(field)) void update(field);
  });
  document.addEventListener('input', ({ target }) => {
    const field = toField(target);
    if (field === null) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => void update(field), delay);
  });
};
