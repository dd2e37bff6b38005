import { type Call, endpoint } from '../access/call.ts';
import { invalid } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { tooLarge } from '../http/failure.ts';
import {
  array,
  bool,
  boolean,
  int,
  longText,
  object,
  oneOf,
  optional,
  raw,
  string,
  text,
} from '../http/schema.ts';
import type { ActionProblem } from '../git/protocol_types.ts';
import { type FileAction, actionRefusal, cleanPath, contentOf, encodings } from './actions.ts';
import { blameFile } from './blame.ts';
import { findForPush } from './branch_create.ts';
import { findCode, projectParam } from './code.ts';
import { commitFiles } from './commit_files.ts';
import { commitShape } from './commit_json.ts';
import { findFile, headersOf, sha256Of } from './files.ts';
import { largestCommit, largestJsonFile, largestWhole } from './limits.ts';
import { pathParam } from './paths.ts';
import { refusal } from './resolve.ts';
import { streamedAnswer, wholeAnswer } from './serve_blob.ts';

const area = 'repository_files';
const files = '/projects/:id/repository/files/:file_path';
const refParam = optional(
  text({ maxLength: 1000, description: 'branch, tag or commit; default: the default branch' }),
);
const one = { id: projectParam, file_path: pathParam('of the file, its slashes as %2F') };

const show = endpoint({
  method: 'GET',
  path: files,
  summary: 'A file, with its content as base64; HEAD: the same as headers, without the content',
  area,
  audience: 'optional',
  params: object({ ...one, ref: refParam }),
  reply: object({
    file_name: string,
    file_path: string,
    size: int,
    encoding: string,
    content_sha256: string,
    ref: string,
    blob_id: string,
    commit_id: string,
    last_commit_id: string,
    execute_filemode: bool,
    content: string,
  }),
  handle: async (call, { id, ...wanted }) => {
    const found = await findFile(await findCode(call, id), wanted, largestJsonFile);
    if (call.incoming.method === 'HEAD') {
      return new Answer(null, { headers: { ...headersOf(found), 'content-type': 'application/json' } });
    }
    const { file, content } = found;
    if (content === null) throw tooLarge();
    return { ...file, content_sha256: sha256Of(content), content: content.toString('base64') };
  },
});

const rawAnswer = async (call: Call, id: number | string, wanted: { file_path: string; ref?: string }) => {
  const code = await findCode(call, id);
  const found = await findFile(code, wanted, largestWhole);
  const { file, content } = found;
  const served = { name: file.file_name, size: file.size, headers: headersOf(found) };
  if (content !== null) return wholeAnswer(content, served);
  return await streamedAnswer(call, code.repository, { id: file.blob_id }, served);
};

const rawFile = endpoint({
  method: 'GET',
  path: `${files}/raw`,
  summary: 'A file as it is',
  area,
  audience: 'optional',
  params: object({ ...one, ref: refParam }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, file_path, ref }) =>
    await rawAnswer(call, id, { file_path, ...(ref !== undefined && { ref }) }),
});

const blame = endpoint({
  method: 'GET',
  path: `${files}/blame`,
  summary: 'The lines of a file, with the commits they come of',
  area,
  audience: 'optional',
  params: object({
    ...one,
    ref: refParam,
    range: optional(raw('`start` and `end`: the first and the last line')),
  }),
  reply: array(object({ commit: commitShape, lines: array(string) })),
  handle: async (call, { id, range, ...wanted }) => {
    const code = await findCode(call, id);
    const { items, headers } = await blameFile(call, code, wanted, range);
    return new Answer(call.incoming.method === 'HEAD' ? null : items, { headers });
  },
});

const writeParams = {
  ...one,
  branch: text(),
  commit_message: longText(),
  start_branch: optional(text({ description: 'where the branch begins, if it does not exist' })),
  start_sha: optional(text({ maxLength: 64 })),
  author_email: optional(text()),
  author_name: optional(text()),
};

const contentParams = {
  content: text({ maxLength: largestCommit, description: 'of the file' }),
  encoding: oneOf(encodings, { default: 'text' }),
  execute_filemode: optional(boolean()),
};

const lastCommit = {
  last_commit_id: optional(
    text({ maxLength: 64, description: 'refused where another has changed the file' }),
  ),
};

const changed: Partial<Record<FileAction['action'], string>> = {
  update: 'You are attempting to update a file that has changed since you started editing it.',
  delete: 'You are attempting to delete a file that has been previously updated.',
};

const refuseIn = (action: FileAction['action']) => (problem: ActionProblem) => {
  const text = problem.problem === 'changed_meanwhile' ? changed[action] : undefined;
  return text === undefined ? actionRefusal(problem) : refusal('bad_request', text);
};

type Sent = {
  id: number | string;
  file_path: string;
  branch: string;
  commit_message: string;
  start_branch?: string | undefined;
  start_sha?: string | undefined;
  author_email?: string | undefined;
  author_name?: string | undefined;
};

type Wanted = {
  action: 'create' | 'update' | 'delete';
  content?: string;
  encoding?: (typeof encodings)[number];
  execute_filemode?: boolean | undefined;
  last_commit_id?: string | undefined;
};

const actionOf = (file_path: string, wanted: Wanted): FileAction => {
  const { action, content, encoding, execute_filemode, last_commit_id: last } = wanted;
  if (last !== undefined && last !== '' && !/^[0-9a-f]{40}$/i.test(last)) {
    throw invalid({ last_commit_id: ['is invalid'] });
  }
  return {
    action,
    file_path: cleanPath(file_path),
    ...(content !== undefined && { content: contentOf(content, encoding) }),
    ...(execute_filemode !== undefined && { execute_filemode }),
    ...(last !== undefined && last !== '' && { last_commit_id: last.toLowerCase() }),
  };
};

const write = async (call: Call, { id, file_path, commit_message, ...sent }: Sent, wanted: Wanted) => {
  const code = await findForPush(call, id);
  const action = actionOf(file_path, wanted);
  await commitFiles(call, code, {
    ...sent,
    message: commit_message,
    actions: [action],
    refuse: refuseIn(wanted.action),
  });
  return { file_path: action.file_path, branch: sent.branch };
};

const written = object({ file_path: string, branch: string });

const create = endpoint({
  method: 'POST',
  path: files,
  summary: 'Commit a new file',
  area,
  audience: 'user',
  largest: largestCommit,
  params: object({ ...writeParams, ...contentParams }),
  reply: written,
  handle: async (call, { content, encoding, execute_filemode, ...sent }) =>
    await write(call, sent, { action: 'create', content, encoding, execute_filemode }),
});

const update = endpoint({
  method: 'PUT',
  path: files,
  summary: 'Commit another content of a file',
  area,
  audience: 'user',
  largest: largestCommit,
  params: object({ ...writeParams, ...contentParams, ...lastCommit }),
  reply: written,
  handle: async (call, { content, encoding, execute_filemode, last_commit_id, ...sent }) =>
    await write(call, sent, { action: 'update', content, encoding, execute_filemode, last_commit_id }),
});

const remove = endpoint({
  method: 'DELETE',
  path: files,
  summary: 'Commit that a file is gone',
  area,
  audience: 'user',
  params: object({ ...writeParams, ...lastCommit }),
  reply: null,
  handle: async (call, { last_commit_id, ...sent }) =>
    void (await write(call, sent, { action: 'delete', last_commit_id })),
});

export const fileRoutes = [show, rawFile, blame, create, update, remove];
