/** Endpoints of snippets of users and projects, the same under both paths. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { missingAttribute, nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  clearable,
  id,
  longText,
  object,
  oneOf,
  optional,
  raw,
  time,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { createSnippet } from './create.ts';
import { deleteSnippet } from './delete.ts';
import { applyFileActions } from './apply_file_actions.ts';
import type { SnippetFiles } from './files.ts';
import { readFileActions, requireOneWay } from './files_param.ts';
import type { Home } from './snippet_home.ts';
import { renderSnippets, snippetsJson } from './json.ts';
import { type SnippetFilter, findSnippet, listAllSnippets, listSnippets } from './queries.ts';
import { rawRoutes } from './raw_routes.ts';
import { type SnippetEndpoints, describeEndpoints, shared } from './personal_or_project.ts';
import type { SnippetRow } from './snippet_row.ts';
import { type SnippetEdit, updateSnippet } from './update.ts';

/** Their lengths are checked with the snippet. */
const title = longText('at most 255 characters');
const file_name = longText('at most 255 characters');
const content = longText('at most 1,048,576 characters');
const texts = {
  file_name: optional(file_name),
  content: optional(content),
  code: optional({ ...content, description: 'another name of content' }),
  files: optional(
    raw('array of `{ file_path, content }`; edits also have `action` and `previous_path`; at most ten files'),
  ),
  description: optional(clearable(longText())),
  visibility: optional(oneOf(['private', 'internal', 'public'])),
};

const render = async (call: Call, home: Home, row: SnippetRow) => (await snippetsJson(call, home, [row]))[0];

const createdTimes = { created_after: optional(time()), created_before: optional(time()) };

const list = ({ path, home, toHome }: SnippetEndpoints, whose: SnippetFilter['of'], summary: string) =>
  endpoint({
    method: 'GET',
    path: whose === 'public' ? `${path}/public` : path,
    summary,
    ...shared,
    list: true,
    params: object({ ...home, ...createdTimes, ...pageParams }),
    handle: async (call, params) => {
      const opened = await toHome(call, params);
      const { items, total } = await listSnippets(
        call,
        opened,
        { ...params, of: whose },
        pageRequest(params),
      );
      return { items: await snippetsJson(call, opened, items), total };
    },
  });

const listAll = endpoint({
  method: 'GET',
  path: '/snippets/all',
  summary: 'List snippets of all users and projects (administrators)',
  ...shared,
  audience: 'admin',
  list: true,
  params: object({ ...createdTimes, repository_storage: unsupportedFilter(), ...pageParams }),
  handle: async (call, params) => {
    const { items, total } = await listAllSnippets(call.db, params, pageRequest(params));
    return { items: await renderSnippets(call, items, ({ full_path }) => full_path), total };
  },
});

type SentFiles = {
  file_name?: string | undefined;
  content?: string | undefined;
  code?: string | undefined;
  files?: unknown;
};

/** Reads the files of a new snippet. @throws Failure 400 */
const readNewFiles = (input: SentFiles): SnippetFiles => {
  requireOneWay(input);
  const actions = readFileActions(input.files);
  if (actions !== undefined)
    return applyFileActions(
      [],
      actions.map((one) => ({ ...one, action: 'create' })),
    );
  const { file_name: path = '', code, content: only = code } = input;
  if (only === undefined) throw missingAttribute('content');
  return [{ path, content: only }];
};

const create = ({ word, path, home, toHome }: SnippetEndpoints) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Create ${word}`,
    ...shared,
    params: object({ ...home, title, ...texts }),
    handle: async (call, params) => {
      const files = readNewFiles(params);
      const opened = await toHome(call, params);
      const { title: named, description = null, visibility } = params;
      const snippet = { title: named, files, description, visibility };
      return await render(call, opened, await createSnippet(call, opened, snippet));
    },
  });

const get = ({ word, one, param, home, toHome, getSnippetId }: SnippetEndpoints) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Get ${word}`,
    ...shared,
    params: object({ ...home, [param]: id() }),
    handle: async (call, params) => {
      const opened = await toHome(call, params);
      return await render(call, opened, await findSnippet(call, call.db, opened, getSnippetId(params)));
    },
  });

const editNames = ['title', 'file_name', 'content', 'code', 'files', 'description', 'visibility'] as const;

const update = ({ word, one, param, home, toHome, getSnippetId }: SnippetEndpoints) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Update ${word}`,
    ...shared,
    params: object({ ...home, [param]: id(), title: optional(title), ...texts }),
    handle: async (call, params) => {
      if (editNames.every((name) => params[name] === undefined)) {
        throw nothingToChange(['title', 'file_name', 'content', 'description', 'visibility']);
      }
      requireOneWay(params);
      const files = readFileActions(params.files);
      const opened = await toHome(call, params);
      const { title: named, file_name: name, description, visibility } = params;
      const edit: SnippetEdit = { title: named, file_name: name, description, visibility, files };
      const edited = { ...edit, content: params.content ?? params.code };
      return await render(
        call,
        opened,
        await updateSnippet(call, { home: opened, id: getSnippetId(params) }, edited),
      );
    },
  });

const remove = ({ word, one, param, home, toHome, getSnippetId }: SnippetEndpoints) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Delete ${word}`,
    ...shared,
    reply: null,
    params: object({ ...home, [param]: id() }),
    handle: async (call, params) =>
      await deleteSnippet(call, await toHome(call, params), getSnippetId(params)),
  });

const allRoutes = (endpoints: SnippetEndpoints) => [
  create(endpoints),
  get(endpoints),
  update(endpoints),
  remove(endpoints),
  ...rawRoutes(endpoints),
];

const [personal, inProject] = [describeEndpoints('personal'), describeEndpoints('project')];

export const snippetRoutes = [
  list(personal, 'own', 'List your snippets'),
  list(personal, 'public', 'List public snippets of all users'),
  listAll,
  ...allRoutes(personal),
  list(inProject, 'all', 'List snippets of a project'),
  ...allRoutes(inProject),
];
