/** Reads pages.txt: which endpoint says who may use a page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, rows } from './expected.ts';

export type Audience = 'anyone' | 'user' | 'admin';

export type PageRow = {
  /** As in the list of pages: `POST /-/projects/:project/star`. */
  line: string;
  /** The row of expected.txt whose answers hold; an audience for pages of the instance; null: not asked here. */
  as: Row | Audience | null;
  /** Parameters of the path, and fields of the form. */
  sent: Record<string, string>;
  /** The record that the page is about does not exist. */
  isAbsent: boolean;
  /** Anonymous visitors see what users without a role see, where the project or group is public. */
  isPublic: boolean;
};

const text = readFileSync(join(import.meta.dirname, 'pages.txt'), 'utf8');
const audiences: readonly string[] = ['anyone', 'user', 'admin'];

const ruleOf = (name: string, line: string): PageRow['as'] => {
  if (name === '-') return null;
  if (audiences.includes(name)) return name as Audience;
  const row = rows.find((one) => one.name === name);
  if (row === undefined)
    throw new Error(`pages.txt: ${line} is as ${name}, which expected.txt does not have`);
  return row;
};

/** Whether a pattern such as `* /admin*` fits a line. */
const fits = (pattern: string, line: string): boolean => {
  const [method = '', path = ''] = pattern.split(' ');
  const [lineMethod = '', linePath = ''] = line.split(' ');
  if (method !== '*' && method !== lineMethod) return false;
  return path.endsWith('*') ? linePath.startsWith(path.slice(0, -1)) : linePath === path;
};

const entries = text
  .split('\n')
  .filter((one) => /^(?:GET|POST|\*) \//.test(one))
  .map((one) => {
    const [pattern = '', name = '', sent = ''] = one.split(/\s{2,}/);
    const { absent, public: open, ...rest } = Object.fromEntries(new URLSearchParams(sent));
    return {
      pattern,
      as: ruleOf(name, pattern),
      sent: rest,
      isAbsent: absent !== undefined,
      isPublic: open !== undefined,
    };
  });

/** Finds the rows of pages. A page that no line fits is in `without`; a line that fits none, in `unused`. */
export const findPageRows = (lines: readonly string[]) => {
  const used = new Set<string>();
  const without: string[] = [];
  const found: PageRow[] = [];
  for (const line of lines) {
    const entry = entries.find(({ pattern }) => fits(pattern, line));
    if (entry === undefined) {
      without.push(line);
      continue;
    }
    const { pattern, ...row } = entry;
    used.add(pattern);
    found.push({ line, ...row });
  }
  return { found, without, unused: entries.map(({ pattern }) => pattern).filter((one) => !used.has(one)) };
};
