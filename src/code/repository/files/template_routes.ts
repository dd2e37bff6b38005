/** Routes of description templates, read from the default branch of the project. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { tooLarge } from '../../../platform/http/failure.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { object, string, text } from '../../../platform/http/schema.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { type Code, findCode, projectParam } from '../code.ts';
import { maxJsonFileBytes } from '../limits.ts';
import { resolveRevision } from '../refs/resolve.ts';

const folders = {
  issues: '.gitlab/issue_templates',
  merge_requests: '.gitlab/merge_request_templates',
} as const;

type DescriptionType = keyof typeof folders;

const extension = '.md';
const symbolicLink = '120000';
/** Maximum files of a folder that are examined. */
const maxEntries = 10_000;

type Templates = { commit: Oid; names: string[] };

/** Lists the names of the templates; null for an empty repository. */
const findTemplates = async (code: Code, type: DescriptionType): Promise<Templates | null> => {
  const head = await resolveRevision(code, 'HEAD');
  if (head === null) return null;
  const { commit } = head;
  const folder = { commit, path: folders[type], recursive: false, offset: 0, limit: maxEntries };
  const tree = await code.repository.ask('tree.list', folder);
  const files = (tree?.entries ?? []).filter(
    ({ type: kind, mode, name }) =>
      kind === 'blob' && mode !== symbolicLink && name.endsWith(extension) && name !== extension,
  );
  return { commit, names: files.map(({ name }) => name.slice(0, -extension.length)).toSorted() };
};

/** @throws Failure 404 `404 Template Not Found` */
const readTemplate = async (code: Code, type: DescriptionType, name: string) => {
  const templates = await findTemplates(code, type);
  // Only a listed name may become part of a path.
  if (templates?.names.includes(name) !== true) throw notFound('Template');
  const path = `${folders[type]}/${name}${extension}`;
  const place = { commit: templates.commit, path, max: maxJsonFileBytes };
  const { result, body } = await code.repository.read('blob.at', place);
  if (result === null) throw notFound('Template');
  if (!result.whole) throw tooLarge();
  return { name, content: body.toString('utf8') };
};

const shared = { method: 'GET', area: 'templates', audience: 'optional' } as const;

const routesOfType = (type: DescriptionType, noun: string) => [
  endpoint({
    ...shared,
    path: `/projects/:id/templates/${type}`,
    summary: `Templates of a project for descriptions of ${noun}`,
    list: true,
    params: object({ id: projectParam, ...pageParams }),
    reply: object({ key: string, name: string }),
    handle: async (call, params) => {
      const templates = await findTemplates(await findCode(call, params.id), type);
      const names = templates?.names ?? [];
      const { limit, offset } = pageRequest(params);
      const items = names.slice(offset, offset + limit).map((name) => ({ key: name, name }));
      return { items, total: names.length };
    },
  }),
  endpoint({
    ...shared,
    path: `/projects/:id/templates/${type}/:name`,
    summary: `One template of a project for descriptions of ${noun}`,
    params: object({ id: projectParam, name: text({ description: 'key of the template' }) }),
    reply: object({ name: string, content: string }),
    handle: async (call, { id, name }) => await readTemplate(await findCode(call, id), type, name),
  }),
];

export const descriptionTemplateRoutes = [
  ...routesOfType('issues', 'issues'),
  ...routesOfType('merge_requests', 'merge requests'),
];
