/** The parts of a new endpoint as text: its declaration, its row in the access table, its test. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The request makes no sense for this project: the message says why. */
export class NewFailure extends Error {}

export type NewEndpoint = { method: string; resource: string; name: string };
export type Scaffold = { declaration: string; row: string; test: string };

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
const pascalCase = (name: string): string => camelCase(`_${name}`);

/** The folder of a resource: `src/planning/issues`. */
const findFolder = (resource: string): string => {
  const files = globSync('src/*/*/routes.ts', { cwd: root }).toSorted();
  const file = files.find((one) => basename(dirname(one)) === resource);
  if (file !== undefined) return dirname(file);
  const names = files.map((one) => basename(dirname(one))).join(', ');
  throw new NewFailure(`no resource "${resource}" has routes; these have: ${names}`);
};

/** The path of one record of a resource, as `docs/routes.txt` has it: `/projects/:id/issues/:issue_iid`. */
const recordPath = (resource: string): string => {
  const paths = read('docs/routes.txt')
    .split('\n')
    .map((line) => line.replace(/^\w+ \/api\/v4/, ''))
    .filter((path) => new RegExp(`/${resource}/:\\w+$`).test(path));
  const path = paths.find((one) => one.startsWith('/projects/:id/')) ?? paths[0];
  if (path === undefined) throw new NewFailure(`docs/routes.txt has no path of one of the ${resource}`);
  return path;
};

const parameters = (path: string): string => {
  const owner = /^\/(project|group)s\/:id/.exec(path)?.[1];
  return [...path.matchAll(/:(\w+)/g)]
    .map(([, name = '']) => (name === 'id' && owner ? `id: idOrPath('${owner}')` : `${name}: id()`))
    .join(', ');
};

const writeDeclaration = ({ method, resource, name }: NewEndpoint, path: string, folder: string): string => {
  const isList = method === 'GET';
  const operation = isList ? `list${pascalCase(name)}` : camelCase(name);
  const up = relative(folder, 'src');
  const list = isList ? '\n  list: true,' : '';
  const page = isList ? ', ...pageParams' : '';
  const params = parameters(path);
  const used = ['id()', 'idOrPath(', 'int'].filter((word) => word === 'int' || params.includes(word));
  const schema = [...used.map((word) => word.replace(/\(.*/, '')), 'object'].join(', ');
  return `// ${folder}/routes.ts: declare it, and add it to the list that the file exports
import { endpoint } from '${up}/core/access/endpoint.ts';${isList ? `\nimport { pageParams } from '${up}/platform/http/page.ts';` : ''}
import { ${schema} } from '${up}/platform/http/schema.ts';
import { ${operation} } from './${name}.ts'; // the operation: find the record (404), ask may() (403), act

const ${camelCase(name)} = endpoint({
  method: '${method}',
  path: '${path}',
  summary: '?',
  area: '${resource}',
  audience: 'user',${list}
  params: object({ ${params}${page} }),
  reply: object({ id: int }), // ? the shape of ${isList ? 'one item' : 'the answer'}; null: no body
  handle: async (call, params) => await ${operation}(call, params),
});`;
};

/** The block of the access table that has the record's own endpoint, and its columns. */
const findBlock = (record: string): { title: string; columns: string[] } => {
  const blocks = read('test/access/expected.txt').split(/\n(?=\[)/);
  const block = blocks.find((one) => one.includes(`\nGET ${record} `));
  if (block === undefined) throw new NewFailure(`test/access/expected.txt has no row "GET ${record}"`);
  const [head = '', ...columns] = (block.split('\n')[0] ?? '').split(/\s{2,}/);
  return { title: head.replace(/\].*/, ']'), columns };
};

const writeRow = ({ method }: NewEndpoint, path: string, record: string): string => {
  const { title, columns } = findBlock(record);
  const cells = columns.map((column) => '?'.padEnd(column.length)).join('  ');
  const line = `${method} ${path}`;
  return `# test/access/expected.txt, in the block ${title}; put the answer of each person in place of ?
${' '.repeat(line.length)}  ${columns.join('  ')}
${line}  ${cells.trimEnd()}`;
};

const writeTest = ({ method, name }: NewEndpoint, path: string, folder: string): string => {
  const support = relative(folder, 'test/support/service.ts');
  const status = method === 'POST' ? 201 : method === 'DELETE' ? 204 : 200;
  const example = path.replaceAll(/:\w+/g, '1');
  return `// ${folder}/${name}.test.ts
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '${support}';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('${method} ${path} answers ?', async () => {
  // ? first create what it is about, with test/support/seed.ts or through the API
  const reply = await gantry.api('${method} ${example}');
  assert.equal(reply.status, ${status}, reply.text);
});`;
};

/** @throws NewFailure when the resource is unknown, the name is not snake_case, or the endpoint exists */
export const scaffoldEndpoint = (request: NewEndpoint): Scaffold => {
  const { method, resource, name } = request;
  if (!/^[a-z]+(_[a-z]+)*$/.test(name)) throw new NewFailure(`"${name}" is not snake_case`);
  if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
    throw new NewFailure(`"${method}" is not a method; there are GET, POST, PUT, PATCH and DELETE`);
  const folder = findFolder(resource);
  const record = recordPath(resource);
  const path = `${record}/${name}`;
  if (read('docs/routes.txt').split('\n').includes(`${method} /api/v4${path}`))
    throw new NewFailure(`${method} ${path} exists already`);
  return {
    declaration: writeDeclaration(request, path, folder),
    row: writeRow(request, path, record),
    test: writeTest(request, path, folder),
  };
};
