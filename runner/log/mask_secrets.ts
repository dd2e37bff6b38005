/** Masks secrets in a stream of bytes, also across chunks. */

export type Masker = {
  /** Returns the masked text so far. Holds back the end of the input if a secret may start there. */
  feed: (chunk: Buffer) => Buffer;
  /** Returns the text that was held back. */
  end: () => Buffer;
};

/** Prefixes of access tokens. The prefix stays visible, the rest of the token is masked. */
const tokenPrefixes = [
  ...'glpat- gloas- gldt- glrt- glcbt- glrtr- glptt- glft- glimt- glagent-'.split(' '),
  'glsoat-',
  'glffct-',
  'gltok-',
  'ghp_',
];

const mark = '[MASKED]';
const ofToken = String.raw`[\w.=-]`;

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Maps each UTF-8 byte to one character, because a chunk may end inside a multi-byte character. */
const toLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** Lists the texts to mask for a secret: the whole, trimmed, and each line of at least eight characters. */
const listForms = (secret: string): string[] => {
  const lines = secret.split(/\r?\n/).filter((line) => line.trim().length >= 8);
  return [secret, secret.trim(), ...lines].filter((form) => form !== '');
};

const alternatives = (words: readonly string[]): string => words.map(escape).join('|');

/** Masks secrets, and tokens that start with one of the prefixes. */
export const makeMasker = (
  secrets: readonly string[],
  prefixes: readonly string[] = tokenPrefixes,
): Masker => {
  const words = [...new Set(secrets.flatMap(listForms).map(toLatin1))].toSorted(
    (a, b) => b.length - a.length,
  );
  const begins = prefixes.map(toLatin1);
  const starts = [...words, ...begins];
  const longest = Math.max(0, ...starts.map((word) => word.length));
  const parts = [
    ...(words.length > 0 ? [alternatives(words)] : []),
    ...(begins.length > 0 ? [`(${alternatives(begins)})${ofToken}+`] : []),
  ];
  const pattern = new RegExp(parts.join('|') || '(?!)', 'g');
  const tokenRest = new RegExp(`${ofToken}*`, 'y');
  let carry = '';
  /** The last chunk ended inside a token. */
  let swallowing = false;

  /** Returns the offset from which the text may be the start of a secret. */
  const openEnd = (text: string, from: number): number => {
    for (let at = Math.max(from, text.length - longest); at < text.length; at += 1) {
      const tail = text.slice(at);
      if (starts.some((word) => word.length > tail.length && word.startsWith(tail))) return at;
      if (begins.includes(tail)) return at; // a token, if more text follows
    }
    return text.length;
  };

  const swallow = (text: string): string => {
    if (!swallowing) return text;
    tokenRest.lastIndex = 0;
    const end = tokenRest.exec(text)?.[0].length ?? 0;
    swallowing = end === text.length;
    return text.slice(end);
  };

  const pass = (text: string, isEnd: boolean): string => {
    let shown = '';
    let done = 0;
    let open = isEnd ? text.length : openEnd(text, 0);
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (match.index >= open) break;
      const [whole, prefix] = match;
      shown += `${text.slice(done, match.index)}${prefix ?? ''}${mark}`;
      done = match.index + whole.length;
      swallowing = prefix !== undefined && done === text.length;
      if (done > open) open = isEnd ? text.length : openEnd(text, done);
    }
    carry = text.slice(open);
    return shown + text.slice(done, open);
  };

  return {
    feed: (chunk) => Buffer.from(pass(swallow(carry + chunk.toString('latin1')), false), 'latin1'),
    end: () => Buffer.from(pass(carry, true), 'latin1'),
  };
};
