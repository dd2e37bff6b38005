/**
 * Fills the suggestions of a field `[data-suggest]` from the API when it first gets the focus. Of a field for several
 * names, separated by commas, the last one is completed.
 */
const load = async (field: HTMLInputElement): Promise<string[]> => {
  const { suggest = '', suggestField = '' } = field.dataset;
  const answer = await fetch(suggest, { headers: { accept: 'application/json' } });
  if (!answer.ok) return [];
  const records = (await answer.json()) as Record<string, unknown>[];
  return records.map((record) => String(record[suggestField]));
};

const show = (field: HTMLInputElement, names: readonly string[]): void => {
  const before = field.value.slice(0, field.value.lastIndexOf(',') + 1);
  const options = names.map((name) => {
    const option = document.createElement('option');
    option.value = before === '' ? name : `${before} ${name}`;
    return option;
  });
  field.list?.replaceChildren(...options);
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
