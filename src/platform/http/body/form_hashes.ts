/** Lists of hashes in a form: `actions[][action]=create&actions[][file_path]=a&actions[][action]=delete`. */

const inList = /^([^[\]]+)\[\]\[([^[\]]+)\](.*)$/s;
const brackets = /\[\]\[|%5b%5d%5b/i;

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

/** Numbers the hashes of each list. A repeated name starts the next hash. Pairs past the limit are dropped. */
export const numberHashes = (form: string, mostPairs: number): string => {
  if (!brackets.test(form)) return form;
  const lists = new Map<string, { at: number; seen: Set<string> }>();
  const number = (pair: string): string => {
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const [, list = '', key = '', rest = ''] = inList.exec(decoded(pair.slice(0, end))) ?? [];
    if (list === '') return pair;
    const state = lists.get(list) ?? { at: 0, seen: new Set<string>() };
    lists.set(list, state);
    const isNext = state.seen.has(key + rest) && !rest.endsWith('[]');
    if (isNext) {
      state.at += 1;
      state.seen.clear();
    }
    state.seen.add(key + rest);
    return `${encodeURIComponent(list)}[${state.at}][${encodeURIComponent(key)}]${rest}${pair.slice(end)}`;
  };
  return form.split('&', mostPairs).map(number).join('&');
};
