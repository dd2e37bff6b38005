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

/** Numbers the hashes of each list: a name that comes again begins the next one. Pairs past the limit are dropped. */
export const numberHashes = (form: string, mostPairs: number): string => {
  if (!brackets.test(form)) return form;
  const lists = new Map<string, { at: number; seen: Set<string> }>();
  const number = (pair: string): string => {
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const [, list = '', key = '', rest = ''] = inList.exec(decoded(pair.slice(0, end))) ?? [];
    if (list === '') return pair;
    const known = lists.get(list) ?? { at: 0, seen: new Set<string>() };
    lists.set(list, known);
    const isNext = known.seen.has(key + rest) && !rest.endsWith('[]');
    if (isNext) {
      known.at += 1;
      known.seen.clear();
    }
    known.seen.add(key + rest);
    return `${encodeURIComponent(list)}[${known.at}][${encodeURIComponent(key)}]${rest}${pair.slice(end)}`;
  };
  return form.split('&', mostPairs).map(number).join('&');
};
