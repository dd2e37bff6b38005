/**
 * Finds declared parameters that no code of an endpoint reads: a scan of its handler, of its module, and of the modules
 * up to three imports away. A name that any function there mentions counts as read: the scan can miss a parameter that
 * nothing reads.
 */
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import type { AnyEndpoint } from '../../src/platform/http/endpoint.ts';

type Endpoint = Pick<AnyEndpoint<never>, 'method' | 'path' | 'params' | 'list'> & { handle: unknown };

type Property = { 'x-kind'?: string };

/** @property text the module without comments and imports */
type Module = { file: string; text: string; imports: string[] };

const root = join(import.meta.dirname, '../../src');

/** How many imports away from the endpoint its parameters may be read. */
const farthest = 3;

const importLine = /^import (?:type )?\{[^}]*\} from '(\.[^']+)';$/gm;

const modules = new Map<string, Module>();

const readModule = (file: string): Module => {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  const imports = [...text.matchAll(importLine)].map(([, path = '']) => join(dirname(file), path));
  return { file, text: text.replaceAll(importLine, ''), imports };
};

const loadModule = (file: string): Module => {
  const module = modules.get(file) ?? readModule(file);
  modules.set(file, module);
  return module;
};

/** Texts of all modules as they run: without types, so that they contain the texts of their functions. */
const readRunningTexts = (): [file: string, text: string][] =>
  globSync('**/*.ts', { cwd: root })
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => [join(root, name), stripTypeScriptTypes(readFileSync(join(root, name), 'utf8'))]);

/** Returns the modules where the parameters of an endpoint may be read. */
const selectModules = (module: Module): Module[] => {
  const near = new Set([module]);
  let newest = [module];
  for (let distance = 0; distance < farthest; distance += 1) {
    const files = new Set(newest.flatMap(({ imports }) => imports));
    newest = [...files].map(loadModule).filter((one) => !near.has(one));
    for (const one of newest) near.add(one);
  }
  return [...near].filter(({ file }) => file.startsWith(root) && !file.includes('/platform/http/'));
};

/** Whether a text mentions a name other than to declare a parameter or a field of an answer. */
const mentions = (text: string, name: string): boolean =>
  new RegExp(String.raw`(?<![\w-])${name}\b(?!:\s*(?:\w+\(|string,|int,|bool,|flag,))`).test(text);

/** Names that the code of the endpoint must read. The framework reads pages and takes path parameters as given. */
const namesToRead = ({ path, params, list }: Endpoint): string[] =>
  Object.entries(params.properties)
    .filter(
      ([, declared]) => !['unsupported', 'unavailable'].includes((declared as Property)['x-kind'] ?? ''),
    )
    .map(([name]) => name)
    .filter((name) => !path.split('/').includes(`:${name}`))
    .filter((name) => list !== true || (name !== 'page' && name !== 'per_page'));

/** Returns the parameters that nothing reads, as `GET /projects/:id name`. */
export const findUnreadParameters = (endpoints: readonly Endpoint[]): string[] => {
  const running = readRunningTexts();
  return endpoints.flatMap((endpoint) => {
    const request = `${endpoint.method} ${endpoint.path}`;
    const handler = String(endpoint.handle);
    // Short handlers of different modules may be equal: the path tells them apart, where it is written out.
    const holders = running.filter(([, text]) => text.includes(handler));
    const [file] = holders.find(([, text]) => text.includes(`'${endpoint.path}'`)) ?? holders[0] ?? [];
    if (file === undefined) throw new Error(`no module has the handler of ${request}`);
    const unread = namesToRead(endpoint).filter((name) => !mentions(handler, name));
    if (unread.length === 0) return [];
    const texts = selectModules(loadModule(file)).map(({ text }) => text);
    return unread
      .filter((name) => !texts.some((text) => mentions(text, name)))
      .map((name) => `${request} ${name}`);
  });
};
