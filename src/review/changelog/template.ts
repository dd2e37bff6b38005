/**
 * The template language of changelogs: `{{ path.to.value }}`, `{% if path %}`, `{% else %}`, `{% each path %}` and `{%
 * end %}`. A tag in `{% %}` removes the newline after it; a backslash at the end of a line removes the newline of the
 * line.
 */
import { Failure } from '../../platform/errors.ts';

type Block = { kind: 'if' | 'each'; path: string[]; shown: Part[]; otherwise: Part[] };
type Part = string | { kind: 'value'; path: string[] } | Block;

/** A value of the template's data. */
export type TemplateValue =
  | string
  | number
  | boolean
  | undefined
  | TemplateValue[]
  | { [name: string]: TemplateValue };

const maxTemplateLength = 65_536;
const maxOutputLength = 1_048_576;
const maxDepth = 20;

/** 422 with the reason why no changelog can be made. */
export const changelogFailure = (reason: string): Failure =>
  new Failure('unprocessable', { message: `Failed to generate the changelog: ${reason}` });

const tag = /\\\r?\n|\{%\s*([^%\n]*?)\s*%\}\r?\n?|\{\{\s*([^{}\n]*?)\s*\}\}/g;

const readPath = (text: string): string[] => {
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(text)) throw changelogFailure(`the template names no variable: ${text}`);
  return text.split('.');
};

type Open = { block: Block | null; parts: Part[] };

/** Applies a tag in `{% %}` to the open blocks. */
const readStatement = (stack: Open[], statement: string): void => {
  const [word = '', argument, ...others] = statement.split(/\s+/);
  const top = stack.at(-1);
  if ((word === 'if' || word === 'each') && argument !== undefined && others.length === 0) {
    if (stack.length > maxDepth) throw changelogFailure('the template nests too deeply');
    const block: Block = { kind: word, path: readPath(argument), shown: [], otherwise: [] };
    top?.parts.push(block);
    stack.push({ block, parts: block.shown });
  } else if (statement === 'else' && top?.block?.kind === 'if' && top.parts === top.block.shown) {
    top.parts = top.block.otherwise;
  } else if (statement === 'end' && stack.length > 1) stack.pop();
  else throw changelogFailure(`the template has an unexpected tag: {% ${statement} %}`);
};

/** Parses a template. @throws Failure 422 */
export const parseTemplate = (template: string): Part[] => {
  if (template.length > maxTemplateLength) throw changelogFailure('the template is too long');
  const parts: Part[] = [];
  const stack: Open[] = [{ block: null, parts }];
  let at = 0;
  for (const match of template.matchAll(tag)) {
    const [whole, statement, variable] = match;
    if (match.index > at) stack.at(-1)?.parts.push(template.slice(at, match.index));
    at = match.index + whole.length;
    if (statement !== undefined) readStatement(stack, statement);
    else if (variable !== undefined) stack.at(-1)?.parts.push({ kind: 'value', path: readPath(variable) });
  }
  if (stack.length > 1) throw changelogFailure('the template lacks {% end %}');
  if (at < template.length) parts.push(template.slice(at));
  return parts;
};

/** Returns the value at a path; `it` is the current value. */
const lookUp = (scope: TemplateValue, path: readonly string[]): TemplateValue => {
  let value = scope;
  for (const [at, name] of path.entries()) {
    if (at === 0 && name === 'it') continue;
    const isThere = Array.isArray(value)
      ? /^\d+$/.test(name)
      : typeof value === 'object' && Object.hasOwn(value, name);
    if (!isThere) return undefined;
    value = (value as { [key: string]: TemplateValue })[name];
  }
  return value;
};

const isTrue = (value: TemplateValue): boolean => {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object') return Object.keys(value).length > 0;
  return value !== undefined && value !== false && value !== '';
};

const toText = (value: TemplateValue): string =>
  value === undefined || typeof value === 'object' ? '' : String(value);

/** Writes a parsed template. @throws Failure 422 if the text becomes too long */
export const renderTemplate = (template: readonly Part[], data: TemplateValue): string => {
  let text = '';
  const write = (parts: readonly Part[], scope: TemplateValue): void => {
    for (const part of parts) {
      if (typeof part === 'string') text += part;
      else if (part.kind === 'value') text += toText(lookUp(scope, part.path));
      else writeBlock(part, lookUp(scope, part.path), scope);
      if (text.length > maxOutputLength) throw changelogFailure('the text is too long');
    }
  };
  const writeBlock = (block: Block, value: TemplateValue, scope: TemplateValue): void => {
    if (block.kind === 'if') write(isTrue(value) ? block.shown : block.otherwise, scope);
    else for (const item of Array.isArray(value) ? value : []) write(block.shown, item);
  };
  write(template, data);
  return text;
};
