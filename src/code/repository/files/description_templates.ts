/** Templates of descriptions: files in a folder of the default branch. */
import { notFound } from '../../../platform/errors.ts';
import { tooLarge } from '../../../platform/http/failure.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { maxJsonFileBytes } from '../limits.ts';
import { resolveRevision } from '../refs/resolve.ts';

const folders = {
  issues: '.gitlab/issue_templates',
  merge_requests: '.gitlab/merge_request_templates',
} as const;

export type DescriptionType = keyof typeof folders;

const extension = '.md';
const symbolicLink = '120000';
/** Maximum files of a folder that are examined. */
const maxEntries = 10_000;

type Templates = { commit: Oid; names: string[] };

/** Lists the names of the templates; null for an empty repository. */
export const findTemplates = async (code: Code, type: DescriptionType): Promise<Templates | null> => {
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
export const readTemplate = async (code: Code, type: DescriptionType, name: string) => {
  const templates = await findTemplates(code, type);
  // Only a listed name may become part of a path.
  if (templates?.names.includes(name) !== true) throw notFound('Template');
  const path = `${folders[type]}/${name}${extension}`;
  const location = { commit: templates.commit, path, max: maxJsonFileBytes };
  const { result, body } = await code.repository.read('blob.at', location);
  if (result === null) throw notFound('Template');
  if (!result.whole) throw tooLarge();
  return { name, content: body.toString('utf8') };
};
