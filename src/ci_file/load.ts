/** YAML text -> the tree of `node.ts`, as Ruby's Psych would read it, within limits that no honest file meets. */
import {
  type Alias,
  type CST,
  type Document,
  type Node as YamlNode,
  type Pair,
  type YAMLMap,
  Composer,
  Lexer,
  LineCounter,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from 'yaml';
import {
  type Hash,
  type Node,
  type Place,
  hashNode,
  listNode,
  scalarNode,
  textOf,
  tooLarge,
} from './node.ts';
import { longestFile } from './limits.ts';
import { CiFileError, type Problems } from './problem.ts';
import { psychScalar } from './psych.ts';

const mostLines = 100_000;
const deepest = 100;
const mostSyntaxErrors = 10;
/** What the library's lexer cuts a text into: a word, a sign, the blanks between them. */
const mostPieces = 100_000;
/** A header and what follows it. */
const mostDocuments = 2;

type Reading = {
  file: string;
  lines: LineCounter;
  anchors: Map<string, Node>;
  problems: Problems;
};

const placeAt = ({ file, lines }: Pick<Reading, 'file' | 'lines'>, offset: number): Place => {
  const { line, col } = lines.linePos(offset);
  return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
};

const placeOf = (reading: Reading, node: unknown, fallback: Place): Place => {
  const range = (node as { range?: readonly number[] | null } | null)?.range;
  return range?.[0] === undefined ? fallback : placeAt(reading, range[0]);
};

const plainTag = /^(?:!|tag:yaml\.org,2002:)str$/;

const forbiddenText = 'control characters are not allowed';

/** A NUL and half a character are what neither a store keeps, nor a shell takes; escapes may mean them. */
const isKeepable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const scalarOf = (
  reading: Reading,
  node: { value: unknown; type?: string; tag?: string },
  place: Place,
): Node => {
  const text = typeof node.value === 'string' ? node.value : '';
  if (!isKeepable(text)) throw new CiFileError(forbiddenText, place);
  const isPlain = node.type === undefined || node.type === 'PLAIN';
  if (!isPlain || (node.tag !== undefined && plainTag.test(node.tag))) return scalarNode(text, place);
  const value = psychScalar(text);
  if (value !== null && typeof value === 'object') {
    reading.problems.error(`Tried to load unspecified class: ${value.refused}`, place);
    return scalarNode(text, place);
  }
  return scalarNode(value, place);
};

const keyText = (key: Node): string => {
  if (key.kind === 'scalar') return textOf(key.value);
  throw new CiFileError('Invalid configuration format', key.place);
};

/** `!reference` takes only the names of keys. */
const referenceOf = (items: readonly Node[], place: Place, problems: Problems): Node => {
  const path = items.flatMap((item) => (item.kind === 'scalar' ? [textOf(item.value)] : []));
  if (path.length === 0 || path.length !== items.length) {
    problems.error(`!reference ${JSON.stringify(path)} is not valid`, place);
    return scalarNode(null, place);
  }
  return { kind: 'reference', path, size: 1, place };
};

type Gathered = { entries: Map<string, Node>; keys: Map<string, Place> };

const takeOver = ({ entries, keys }: Gathered, from: Hash): void => {
  for (const [key, value] of from.entries) {
    entries.set(key, value);
    keys.set(key, from.keys.get(key) ?? from.place);
  }
};

/** `<<`: what it names comes over at once, as in Ruby: what stands below wins. */
const mergeInto = (gathered: Gathered, value: Node): boolean => {
  const sources = value.kind === 'list' ? value.items.toReversed() : [value];
  const hashes = sources.filter((source): source is Hash => source.kind === 'hash');
  if (hashes.length !== sources.length) return false;
  const merged: Gathered = { entries: new Map(), keys: new Map() };
  for (const source of hashes) takeOver(merged, source);
  for (const [key, node] of merged.entries) {
    gathered.entries.set(key, node);
    gathered.keys.set(key, merged.keys.get(key) ?? value.place);
  }
  return true;
};

const isMergeKey = (key: unknown): boolean => isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

const readPair = (
  reading: Reading,
  gathered: Gathered,
  pair: Pair,
  at: { place: Place; depth: number },
): void => {
  const { entries, keys } = gathered;
  const key = readNode(reading, pair.key, at.place, at.depth);
  const value = readNode(reading, pair.value, key.place, at.depth);
  if (isMergeKey(pair.key) && mergeInto(gathered, value)) return;
  const name = keyText(key);
  if (entries.has(name) && ownKeys(gathered).has(name)) {
    reading.problems.warn(`duplicate key: ${name}, the last one counts`, key.place);
  }
  ownKeys(gathered).add(name);
  entries.set(name, value);
  keys.set(name, key.place);
};

/** Keys written here, not merged in: those alone can be written twice. */
const written = new WeakMap<Gathered, Set<string>>();

const ownKeys = (gathered: Gathered): Set<string> => {
  const known = written.get(gathered) ?? new Set<string>();
  written.set(gathered, known);
  return known;
};

const readMap = (reading: Reading, map: YAMLMap, place: Place, depth: number): Node => {
  const gathered: Gathered = { entries: new Map(), keys: new Map() };
  for (const pair of map.items) readPair(reading, gathered, pair, { place, depth });
  return hashNode(gathered.entries, gathered.keys, place);
};

const aliased = (reading: Reading, alias: Alias, place: Place): Node => {
  const found = reading.anchors.get(alias.source);
  if (found === undefined) throw new CiFileError(`Unknown alias: ${alias.source}`, place);
  return found;
};

const readNode = (reading: Reading, node: unknown, outer: Place, depth: number): Node => {
  const place = placeOf(reading, node, outer);
  if (depth > deepest) throw new CiFileError(tooLarge, place);
  if (isAlias(node)) return aliased(reading, node, place);
  const found = readOwn(reading, node as YamlNode | null, place, depth + 1);
  const anchor = (node as { anchor?: string } | null)?.anchor;
  if (anchor !== undefined) reading.anchors.set(anchor, found);
  return found;
};

const readOwn = (reading: Reading, node: YamlNode | null, place: Place, depth: number): Node => {
  if (isMap(node)) return readMap(reading, node, place, depth);
  if (isSeq(node)) {
    const items = node.items.map((item) => readNode(reading, item, place, depth));
    return node.tag === '!reference' ? referenceOf(items, place, reading.problems) : listNode(items, place);
  }
  return isScalar(node) ? scalarOf(reading, node, place) : scalarNode(null, place);
};

const syntaxErrors = (file: string, document: Document, lines: LineCounter, problems: Problems): boolean => {
  for (const { message, pos, code } of document.errors.slice(0, mostSyntaxErrors)) {
    const place = placeAt({ file, lines }, pos[0]);
    const isDeep = code === 'RESOURCE_EXHAUSTION';
    const text = `(<unknown>): ${message} at line ${place.line} column ${place.column}`;
    problems.error(isDeep ? tooLarge : text, place);
    if (isDeep) break;
  }
  return document.errors.length > 0;
};

/**
 * As the library's `parseAllDocuments`, but given up once there is more than an honest file has: what each piece costs
 * is known, so the number of pieces bounds the whole.
 */
const parse = (text: string, lineCounter: LineCounter, file: string): Document[] => {
  const composer = new Composer({
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    logLevel: 'silent',
  });
  const parser = new Parser(lineCounter.addNewLine);
  const documents: Document[] = [];
  let [pieces, faults] = [0, 0];
  const compose = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) {
      if (token.type === 'error') faults++;
      documents.push(...composer.next(token));
    }
  };
  lineCounter.addNewLine(0);
  for (const piece of new Lexer().lex(text)) {
    if (++pieces > mostPieces) throw new CiFileError(tooLarge, { file, line: 1, column: 1 });
    compose(parser.next(piece));
    if (faults >= mostSyntaxErrors || documents.length >= mostDocuments) break;
  }
  compose(parser.end());
  documents.push(...composer.end());
  return documents.slice(0, mostDocuments);
};

const countLines = (text: string): number => {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
};

/**
 * The documents of a file; those that are none are null.
 * @throws CiFileError where nothing can be made of it; errors of its syntax are in `problems`, and there are no documents
 */
export const loadYaml = (file: string, text: string, problems: Problems): Node[] | null => {
  if (text.length > longestFile || countLines(text) > mostLines) {
    throw new CiFileError(tooLarge, { file, line: 1, column: 1 });
  }
  if (!isKeepable(text)) throw new CiFileError(forbiddenText, { file, line: 1, column: 1 });
  const lines = new LineCounter();
  const documents = parse(text.replace(/^\uFEFF/, ''), lines, file);
  const isBroken = documents.map((document) => syntaxErrors(file, document, lines, problems)).includes(true);
  if (isBroken) return null;
  return documents.map((document) => {
    const reading: Reading = { file, lines, anchors: new Map(), problems };
    return readNode(reading, document.contents, { file, line: 1, column: 1 }, 0);
  });
};
