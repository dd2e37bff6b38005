/** Loads YAML to the tree of `node.ts`, as Ruby's Psych reads it, within limits on size and depth. */
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
import { type Hash, type Node, hashNode, listNode, scalarNode, toScalarText, tooLarge } from './node.ts';
import type { SourcePosition } from './source_position.ts';
import { maxFileLength } from './limits.ts';
import { CiFileError, type Problems } from './problems.ts';
import { parsePsychScalar } from './psych_scalars.ts';

const maxLines = 100_000;
const maxDepth = 100;
const maxSyntaxErrors = 10;
/** Maximum lexer tokens, including blanks. */
const maxTokens = 100_000;
/** Maximum documents: a header and the content. */
const maxDocuments = 2;

type LoadState = {
  file: string;
  lines: LineCounter;
  anchors: Map<string, Node>;
  problems: Problems;
};

const placeAt = ({ file, lines }: Pick<LoadState, 'file' | 'lines'>, offset: number): SourcePosition => {
  const { line, col } = lines.linePos(offset);
  return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
};

const getPlace = (state: LoadState, node: unknown, fallback: SourcePosition): SourcePosition => {
  const range = (node as { range?: readonly number[] | null } | null)?.range;
  return range?.[0] === undefined ? fallback : placeAt(state, range[0]);
};

const plainTag = /^(?:!|tag:yaml\.org,2002:)str$/;

const forbiddenText = 'control characters are not allowed';

/** Returns whether a text has no NUL and no lone surrogates, which neither the store nor a shell accepts. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const toScalar = (
  state: LoadState,
  node: { value: unknown; type?: string; tag?: string },
  position: SourcePosition,
): Node => {
  const text = typeof node.value === 'string' ? node.value : '';
  if (!isStorable(text)) throw new CiFileError(forbiddenText, position);
  const isPlain = node.type === undefined || node.type === 'PLAIN';
  if (!isPlain || (node.tag !== undefined && plainTag.test(node.tag))) return scalarNode(text, position);
  const value = parsePsychScalar(text);
  if (value !== null && typeof value === 'object') {
    state.problems.error(`Tried to load unspecified class: ${value.refused}`, position);
    return scalarNode(text, position);
  }
  return scalarNode(value, position);
};

const toKeyText = (key: Node): string => {
  if (key.kind === 'scalar') return toScalarText(key.value);
  throw new CiFileError('Invalid configuration format', key.position);
};

/** `!reference` takes only the names of keys. */
const toReference = (items: readonly Node[], position: SourcePosition, problems: Problems): Node => {
  const path = items.flatMap((item) => (item.kind === 'scalar' ? [toScalarText(item.value)] : []));
  if (path.length === 0 || path.length !== items.length) {
    problems.error(`!reference ${JSON.stringify(path)} is not valid`, position);
    return scalarNode(null, position);
  }
  return { kind: 'reference', path, size: 1, position };
};

type MapEntries = { entries: Map<string, Node>; keys: Map<string, SourcePosition> };

const copyEntries = ({ entries, keys }: MapEntries, from: Hash): void => {
  for (const [key, value] of from.entries) {
    entries.set(key, value);
    keys.set(key, from.keys.get(key) ?? from.position);
  }
};

/** Merges `<<` at its position, as Ruby does: later keys win. */
const mergeInto = (mapEntries: MapEntries, value: Node): boolean => {
  const sources = value.kind === 'list' ? value.items.toReversed() : [value];
  const hashes = sources.filter((source): source is Hash => source.kind === 'hash');
  if (hashes.length !== sources.length) return false;
  const merged: MapEntries = { entries: new Map(), keys: new Map() };
  for (const source of hashes) copyEntries(merged, source);
  for (const [key, node] of merged.entries) {
    mapEntries.entries.set(key, node);
    mapEntries.keys.set(key, merged.keys.get(key) ?? value.position);
  }
  return true;
};

const isMergeKey = (key: unknown): boolean => isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

const loadPair = (
  state: LoadState,
  mapEntries: MapEntries,
  pair: Pair,
  at: { position: SourcePosition; depth: number },
): void => {
  const { entries, keys } = mapEntries;
  const key = loadNode(state, pair.key, at.position, at.depth);
  const value = loadNode(state, pair.value, key.position, at.depth);
  if (isMergeKey(pair.key) && mergeInto(mapEntries, value)) return;
  const name = toKeyText(key);
  if (entries.has(name) && getOwnKeys(mapEntries).has(name)) {
    state.problems.warn(`duplicate key: ${name}, the last one counts`, key.position);
  }
  getOwnKeys(mapEntries).add(name);
  entries.set(name, value);
  keys.set(name, key.position);
};

/** Keys written in the map itself, for the warning about duplicates. Merged keys do not count. */
const writtenKeys = new WeakMap<MapEntries, Set<string>>();

const getOwnKeys = (mapEntries: MapEntries): Set<string> => {
  const own = writtenKeys.get(mapEntries) ?? new Set<string>();
  writtenKeys.set(mapEntries, own);
  return own;
};

const loadMap = (state: LoadState, map: YAMLMap, position: SourcePosition, depth: number): Node => {
  const mapEntries: MapEntries = { entries: new Map(), keys: new Map() };
  for (const pair of map.items) loadPair(state, mapEntries, pair, { position, depth });
  return hashNode(mapEntries.entries, mapEntries.keys, position);
};

const resolveAlias = (state: LoadState, alias: Alias, position: SourcePosition): Node => {
  const anchored = state.anchors.get(alias.source);
  if (anchored === undefined) throw new CiFileError(`Unknown alias: ${alias.source}`, position);
  return anchored;
};

const loadNode = (state: LoadState, node: unknown, outer: SourcePosition, depth: number): Node => {
  const position = getPlace(state, node, outer);
  if (depth > maxDepth) throw new CiFileError(tooLarge, position);
  if (isAlias(node)) return resolveAlias(state, node, position);
  const content = loadContent(state, node as YamlNode | null, position, depth + 1);
  const anchor = (node as { anchor?: string } | null)?.anchor;
  if (anchor !== undefined) state.anchors.set(anchor, content);
  return content;
};

const loadContent = (
  state: LoadState,
  node: YamlNode | null,
  position: SourcePosition,
  depth: number,
): Node => {
  if (isMap(node)) return loadMap(state, node, position, depth);
  if (isSeq(node)) {
    const items = node.items.map((item) => loadNode(state, item, position, depth));
    return node.tag === '!reference'
      ? toReference(items, position, state.problems)
      : listNode(items, position);
  }
  return isScalar(node) ? toScalar(state, node, position) : scalarNode(null, position);
};

const reportSyntaxErrors = (
  file: string,
  document: Document,
  lines: LineCounter,
  problems: Problems,
): boolean => {
  for (const { message, pos, code } of document.errors.slice(0, maxSyntaxErrors)) {
    const position = placeAt({ file, lines }, pos[0]);
    const isDeep = code === 'RESOURCE_EXHAUSTION';
    const text = `(<unknown>): ${message} at line ${position.line} column ${position.column}`;
    problems.error(isDeep ? tooLarge : text, position);
    if (isDeep) break;
  }
  return document.errors.length > 0;
};

/**
 * Parses like the library's `parseAllDocuments`, but stops at a limit of tokens, which bounds the total cost.
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
    if (++pieces > maxTokens) throw new CiFileError(tooLarge, { file, line: 1, column: 1 });
    compose(parser.next(piece));
    if (faults >= maxSyntaxErrors || documents.length >= maxDocuments) break;
  }
  compose(parser.end());
  documents.push(...composer.end());
  return documents.slice(0, maxDocuments);
};

const countLines = (text: string): number => {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
};

/**
 * Loads the documents of a file; an empty document is a null scalar. Returns null if there are syntax errors, which are
 * reported in `problems`.
 * @throws CiFileError if the file is too large or has forbidden characters
 */
export const loadYaml = (file: string, text: string, problems: Problems): Node[] | null => {
  if (text.length > maxFileLength || countLines(text) > maxLines) {
    throw new CiFileError(tooLarge, { file, line: 1, column: 1 });
  }
  if (!isStorable(text)) throw new CiFileError(forbiddenText, { file, line: 1, column: 1 });
  const lines = new LineCounter();
  const documents = parse(text.replace(/^\uFEFF/, ''), lines, file);
  const isBroken = documents
    .map((document) => reportSyntaxErrors(file, document, lines, problems))
    .includes(true);
  if (isBroken) return null;
  return documents.map((document) => {
    const state: LoadState = { file, lines, anchors: new Map(), problems };
    return loadNode(state, document.contents, { file, line: 1, column: 1 }, 0);
  });
};
