import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { invalid } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { tooLarge } from '../../../platform/http/failure.ts';
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
} from '../../../platform/http/schema.ts';
import type { ActionProblem } from '../../../platform/git/protocol_types.ts';
import { type FileAction, actionRefusal, decodeContent, encodings } from '../commits/file_actions.ts';
import { blameFile } from './blame.ts';
import { findCodeForPush } from '../branches/create.ts';
import { projectParam } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { commitFiles } from '../commits/create.ts';
import { commitShape } from '../commits/json.ts';
import { findFile, toFileHeaders, computeSha256 } from './find_file.ts';
import { maxCommitBytes, maxJsonFileBytes, maxBytesInMemory } from '../limits.ts';
import { pathParam, stripLeadingSlashes } from './paths.ts';
import { refusal } from '../refs/resolve.ts';
import { serveFile } from './serve_file.ts';

const area = 'repository_files';
const files = '/projects/:id/repository/files/:file_path';
const refParam = optional(
  text({ maxLength: 1000, description: 'branch, tag or commit; default: the default branch' }),
);
const fileParams = { id: projectParam, file_path: pathParam('path of the file, slashes as %2F') };

const show = endpoint({
  method: 'GET',
  path: files,
  summary: 'Get a file with base64 content, or its metadata with HEAD',
  area,
  audience: 'optional',
  params: object({ ...fileParams, ref: refParam }),
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
  handle: async (call, { id, ...request }) => {
    const loaded = await findFile(await findCachedCode(call, id), request, maxJsonFileBytes);
    if (call.incoming.method === 'HEAD') {
      return new Answer(null, { headers: { ...toFileHeaders(loaded), 'content-type': 'application/json' } });
    }
    const { file, content } = loaded;
    if (content === null) throw tooLarge();
    return { ...file, content_sha256: computeSha256(content), content: content.toString('base64') };
  },
});

const rawAnswer = async (call: Call, id: number | string, request: { file_path: string; ref?: string }) => {
  const code = await findCachedCode(call, id);
  return await serveFile(call, code, await findFile(code, request, maxBytesInMemory));
};

const rawFile = endpoint({
  method: 'GET',
  path: `${files}/raw`,
  summary: 'Get the raw content of a file',
  area,
  audience: 'optional',
  params: object({ ...fileParams, ref: refParam }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, file_path, ref }) =>
    await rawAnswer(call, id, { file_path, ...(ref !== undefined && { ref }) }),
});

const blame = endpoint({
  method: 'GET',
  path: `${files}/blame`,
  summary: 'Get the blame of a file',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({
    ...fileParams,
    ref: refParam,
    range: optional(raw('`start` and `end`: first and last line')),
  }),
  reply: array(object({ commit: commitShape, lines: array(string) })),
  handle: async (call, { id, range, ...request }) => {
    const code = await findCachedCode(call, id);
    const { items, headers } = await blameFile(call, code, request, range);
    return new Answer(call.incoming.method === 'HEAD' ? null : items, { headers });
  },
});

const writeParams = {
  ...fileParams,
  branch: text(),
  commit_message: longText(),
  start_branch: optional(text({ description: 'starting point of a new branch' })),
  start_sha: optional(text({ maxLength: 64 })),
  author_email: optional(text()),
  author_name: optional(text()),
};

const contentParams = {
  content: text({ maxLength: maxCommitBytes, description: 'content of the file' }),
  encoding: oneOf(encodings, { default: 'text' }),
  execute_filemode: optional(boolean()),
};

const lastCommit = {
  last_commit_id: optional(
    text({
      maxLength: 64,
      description: 'last known commit of the file; refused if the file has changed since',
    }),
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

type CommitParams = {
  id: number | string;
  file_path: string;
  branch: string;
  commit_message: string;
  start_branch?: string | undefined;
  start_sha?: string | undefined;
  author_email?: string | undefined;
  author_name?: string | undefined;
};

type ActionInput = {
  action: 'create' | 'update' | 'delete';
  content?: string;
  encoding?: (typeof encodings)[number];
  execute_filemode?: boolean | undefined;
  last_commit_id?: string | undefined;
};

const toAction = (file_path: string, input: ActionInput): FileAction => {
  const { action, content, encoding, execute_filemode, last_commit_id: last } = input;
  if (last !== undefined && last !== '' && !/^[0-9a-f]{40}$/i.test(last)) {
    throw invalid({ last_commit_id: ['is invalid'] });
  }
  return {
    action,
    file_path: stripLeadingSlashes(file_path),
    ...(content !== undefined && { content: decodeContent(content, encoding) }),
    ...(execute_filemode !== undefined && { execute_filemode }),
    ...(last !== undefined && last !== '' && { last_commit_id: last.toLowerCase() }),
  };
};

const write = async (
  call: Call,
  { id, file_path, commit_message, ...sent }: CommitParams,
  input: ActionInput,
) => {
  const code = await findCodeForPush(call, id);
  const action = toAction(file_path, input);
  await commitFiles(call, code, {
    ...sent,
    message: commit_message,
    actions: [action],
    refuse: refuseIn(input.action),
  });
  return { file_path: action.file_path, branch: sent.branch };
};

const written = object({ file_path: string, branch: string });

const create = endpoint({
  method: 'POST',
  path: files,
  summary: 'Create a file',
  area,
  audience: 'user',
  maxRequestBytes: maxCommitBytes,
  params: object({ ...writeParams, ...contentParams }),
  reply: written,
  handle: async (call, { content, encoding, execute_filemode, ...sent }) =>
    await write(call, sent, { action: 'create', content, encoding, execute_filemode }),
});

const update = endpoint({
  method: 'PUT',
  path: files,
  summary: 'Update a file',
  area,
  audience: 'user',
  maxRequestBytes: maxCommitBytes,
  params: object({ ...writeParams, ...contentParams, ...lastCommit }),
  reply: written,
  handle: async (call, { content, encoding, execute_filemode, last_commit_id, ...sent }) =>
    await write(call, sent, { action: 'update', content, encoding, execute_filemode, last_commit_id }),
});

const remove = endpoint({
  method: 'DELETE',
  path: files,
  summary: 'Delete a file',
  area,
  audience: 'user',
  params: object({ ...writeParams, ...lastCommit }),
  reply: null,
  handle: async (call, { last_commit_id, ...sent }) =>
    void (await write(call, sent, { action: 'delete', last_commit_id })),
});

export const fileRoutes = [show, rawFile, blame, create, update, remove];
