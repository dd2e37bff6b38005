/** Endpoints of snippets of users and projects, alike under both paths. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { missingAttribute, nothingToChange } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  bool,
  clearable,
  id,
  idOrPath,
  longText,
  object,
  oneOf,
  optional,
  raw,
  string,
  time,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { createSnippet } from './create.ts';
import { deleteSnippet } from './delete.ts';
import { sentFile } from './files_param.ts';
import { type Home, openHome } from './snippet_home.ts';
import { renderSnippets, snippetShape, snippetsJson } from './json.ts';
import {
  type SnippetFilter,
  loadUserAgent,
  loadContent,
  findSnippet,
  listAllSnippets,
  listSnippets,
} from './queries.ts';
import type { SnippetRow } from './snippet_row.ts';
import { type SnippetEdit, updateSnippet } from './update.ts';

/** Their lengths are checked with the snippet. */
const title = longText('255 characters at most');
const file_name = longText('255 characters at most');
const content = longText('1,048,576 characters at most');
const texts = {
  file_name: optional(file_name),
  content: optional(content),
  code: optional({ ...content, description: 'another name of content' }),
  files: optional(raw('one file, as `{ file_path, content }`: in place of file_name and content')),
  description: optional(clearable(longText())),
  visibility: optional(oneOf(['private', 'internal', 'public'])),
};

const shared = { area: 'snippets', audience: 'user', reply: snippetShape } as const;

/** The differences between the endpoints of users and of projects. */
const side = (kind: 'personal' | 'project') => {
  const isPersonal = kind === 'personal';
  const path = isPersonal ? '/snippets' : '/projects/:id/snippets';
  const param = isPersonal ? 'id' : 'snippet_id';
  return {
    word: isPersonal ? 'a snippet' : 'a snippet of a project',
    path,
    param,
    one: `${path}/:${param}`,
    home: isPersonal ? {} : { id: idOrPath('project') },
    toHome: (call: Call, input: Record<string, unknown>): Promise<Home> =>
      openHome(call, isPersonal ? undefined : (input['id'] as number | string)),
    getSnippetId: (input: Record<string, unknown>): number => input[param] as number,
  };
};

type Side = ReturnType<typeof side>;

const render = async (call: Call, home: Home, row: SnippetRow) => (await snippetsJson(call, home, [row]))[0];

const createdTimes = { created_after: optional(time()), created_before: optional(time()) };

const list = ({ path, home, toHome }: Side, whose: SnippetFilter['of'], summary: string) =>
  endpoint({
    method: 'GET',
    path: whose === 'public' ? `${path}/public` : path,
    summary,
    ...shared,
    list: true,
    params: object({ ...home, ...createdTimes, ...pageParams }),
    handle: async (call, input) => {
      const opened = await toHome(call, input);
      const { items, total } = await listSnippets(call, opened, { ...input, of: whose }, pageRequest(input));
      return { items: await snippetsJson(call, opened, items), total };
    },
  });

const listAll = endpoint({
  method: 'GET',
  path: '/snippets/all',
  summary: 'Snippets of all users and projects',
  ...shared,
  audience: 'admin',
  list: true,
  params: object({ ...createdTimes, repository_storage: unsupportedFilter(), ...pageParams }),
  handle: async (call, params) => {
    const { items, total } = await listAllSnippets(call.db, params, pageRequest(params));
    return { items: await renderSnippets(call, items, ({ full_path }) => full_path), total };
  },
});

const create = ({ word, path, home, toHome }: Side) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Create ${word}`,
    ...shared,
    params: object({ ...home, title, ...texts }),
    handle: async (call, input) => {
      const file = sentFile(input.files);
      const { code = file.content, content: text = code, description = null } = input;
      const { file_name: name = file.file_name ?? '' } = input;
      if (text === undefined) throw missingAttribute('content');
      const opened = await toHome(call, input);
      const made = { title: input.title, content: text, file_name: name, description };
      return await render(
        call,
        opened,
        await createSnippet(call, opened, { ...made, visibility: input.visibility }),
      );
    },
  });

const get = ({ word, one, param, home, toHome, getSnippetId }: Side) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Read ${word}`,
    ...shared,
    params: object({ ...home, [param]: id() }),
    handle: async (call, input) => {
      const opened = await toHome(call, input);
      return await render(call, opened, await findSnippet(call, call.db, opened, getSnippetId(input)));
    },
  });

const editNames = ['title', 'file_name', 'content', 'code', 'files', 'description', 'visibility'] as const;

const update = ({ word, one, param, home, toHome, getSnippetId }: Side) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Edit ${word}`,
    ...shared,
    params: object({ ...home, [param]: id(), title: optional(title), ...texts }),
    handle: async (call, input) => {
      if (editNames.every((name) => input[name] === undefined)) {
        throw nothingToChange(['title', 'file_name', 'content', 'description', 'visibility']);
      }
      const opened = await toHome(call, input);
      const file = sentFile(input.files);
      const { title: named, file_name: name = file.file_name, description, visibility } = input;
      const edit: SnippetEdit = { title: named, file_name: name, description, visibility };
      const edited = { ...edit, content: input.content ?? input.code ?? file.content };
      return await render(call, opened, await updateSnippet(call, opened, getSnippetId(input), edited));
    },
  });

const remove = ({ word, one, param, home, toHome, getSnippetId }: Side) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Delete ${word}`,
    ...shared,
    reply: null,
    params: object({ ...home, [param]: id() }),
    handle: async (call, input) => await deleteSnippet(call, await toHome(call, input), getSnippetId(input)),
  });

/** Headers of the text: always plain, whatever the file name suggests. */
export const plainHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'content-disposition': 'inline',
  'content-security-policy': "default-src 'none'; sandbox",
};

const rawText = ({ word, one, param, home, toHome, getSnippetId }: Side) =>
  endpoint({
    method: 'GET',
    path: `${one}/raw`,
    summary: `The text of ${word}`,
    ...shared,
    reply: null,
    content: 'text/plain',
    params: object({ ...home, [param]: id() }),
    handle: async (call, input) => {
      const snippet = await findSnippet(call, call.db, await toHome(call, input), getSnippetId(input));
      return new Answer(await loadContent(call.db, snippet.id), { headers: plainHeaders });
    },
  });

const userAgentDetail = ({ word, one, param, home, toHome, getSnippetId }: Side) =>
  endpoint({
    method: 'GET',
    path: `${one}/user_agent_detail`,
    summary: `With what ${word} was created (administrators)`,
    ...shared,
    audience: 'admin',
    reply: object({ user_agent: string, ip_address: string, spam_check_submitted: bool }),
    params: object({ ...home, [param]: id() }),
    handle: async (call, input) => {
      const snippet = await findSnippet(call, call.db, await toHome(call, input), getSnippetId(input));
      return { ...(await loadUserAgent(call.db, snippet.id)), spam_check_submitted: false };
    },
  });

const oneOfThem = (side: Side) => [
  create(side),
  get(side),
  update(side),
  remove(side),
  rawText(side),
  userAgentDetail(side),
];

const [personal, inProject] = [side('personal'), side('project')];

export const snippetRoutes = [
  list(personal, 'own', 'Own snippets'),
  list(personal, 'public', 'Public snippets of all users'),
  listAll,
  ...oneOfThem(personal),
  list(inProject, 'all', 'Snippets of a project'),
  ...oneOfThem(inProject),
];
