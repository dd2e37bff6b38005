/** Loads a list of the API, and returns one field of each record. */
export const loadNames = async (url: string, recordField: string): Promise<string[]> => {
  const answer = await fetch(url, { headers: { accept: 'application/json' } });
  if (!answer.ok) return [];
  const records = (await answer.json()) as Record<string, unknown>[];
  return records.map((record) => String(record[recordField]));
};

/** What a browser proposes for a field. @property label shown beside the value, and compared with what is typed */
export type Option = { value: string; label?: string };

/** Replaces what the browser proposes for a field. */
export const showOptions = (field: HTMLInputElement, options: readonly Option[]): void => {
  const elements = options.map((given) => Object.assign(document.createElement('option'), given));
  field.list?.replaceChildren(...elements);
};

/**
 * Fills the suggestions of a field `[data-suggest]` from the API when it first gets the focus. Of a field for several
 * names, separated by commas, the last one is completed.
 */
const load = async (field: HTMLInputElement): Promise<string[]> => {
  const { suggest = '', suggestField = '' } = field.dataset;
  return await loadNames(suggest, suggestField);
};

const show = (field: HTMLInputElement, names: readonly string[]): void => {
  const before = field.value.slice(0, field.value.lastIndexOf(',') + 1);
  showOptions(
    field,
    names.map((name) => ({ value: before === '' ? name : `${before} ${name}` })),
  );
};

export const startSuggestions = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-suggest]')) {
    let names: string[] = [];
    field.addEventListener('input', () => show(field, names));
    field.addEventListener(
      'focus',
      () =>
        void load(field)
          .then((loaded) => {
            names = loaded;
            show(field, names);
          })
          // Without an answer, names are typed.
          .catch(() => undefined),
      { once: true },
    );
  }
};
