/** The changelog of a project, generated from the trailers of its commits. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { findCodeForPush } from '../../code/repository/branches/create.ts';
import { commitFiles } from '../../code/repository/commits/create.ts';
import { stripLeadingSlashes } from '../../code/repository/files/paths.ts';
import { loadFile } from '../../code/repository/files/find_file.ts';
import { type Code, findCode, projectParam } from '../../code/repository/find_code.ts';
import { maxBytesInMemory } from '../../code/repository/limits.ts';
import { branchPrefix, resolveRevision } from '../../code/repository/refs/resolve.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { longText, object, optional, string, text, time } from '../../platform/http/schema.ts';
import { type ChangelogRequest, generateSection, readVersion } from './generate.ts';
import { changelogFailure } from './template.ts';
import { insertSection } from './versions.ts';

const path = '/projects/:id/repository/changelog';
const area = 'repository';
const revision = (description: string) => optional(text({ maxLength: 1000, description }));

const params = {
  id: projectParam,
  version: text({ description: 'semantic version of the release' }),
  from: revision('commit before the first; default: the tag of the previous version'),
  to: revision('last commit; default: the head of the default branch'),
  date: optional(time('time of the release; default: now')),
  trailer: { ...text({ description: 'trailer that names the category of a commit' }), default: 'Changelog' },
  config_file: optional(text({ maxLength: 1000, description: 'default: `.gitlab/changelog_config.yml`' })),
};

const show = endpoint({
  method: 'GET',
  path,
  summary: 'Generate release notes from commits',
  area,
  audience: 'optional',
  params: object(params),
  reply: object({ notes: string }),
  handle: async (call, { id, ...request }) => ({
    notes: await generateSection(call, await findCode(call, id), request),
  }),
});

/** Reads the changelog on a branch; null if it does not exist. @throws Failure 422 if it is too large */
const readExisting = async (code: Code, branch: string, file: string) => {
  const head = await resolveRevision(code, branchPrefix + branch);
  if (head === null) return null;
  const loaded = await loadFile(code, { commit: head.commit, path: file, ref: branch }, maxBytesInMemory);
  if (loaded === null) return null;
  if (loaded.content === null) throw changelogFailure(`${file} is too large`);
  return { text: loaded.content.toString('utf8'), last_commit_id: loaded.file.last_commit_id };
};

type Target = { branch: string; file: string; message: string };

const commitSection = async (
  call: Call,
  code: Code,
  request: ChangelogRequest,
  { branch, file, message }: Target,
): Promise<void> => {
  const section = await generateSection(call, code, request);
  const file_path = stripLeadingSlashes(file);
  const existing = await readExisting(code, branch, file_path);
  const content = Buffer.from(insertSection(existing?.text ?? '', readVersion(request.version), section));
  const action =
    existing === null
      ? { action: 'create' as const, file_path, content }
      : { action: 'update' as const, file_path, content, last_commit_id: existing.last_commit_id };
  await commitFiles(call, code, { branch, message, actions: [action] });
};

const add = endpoint({
  method: 'POST',
  path,
  summary: 'Add release notes to the changelog in a commit',
  area,
  audience: 'user',
  status: 200,
  params: object({
    ...params,
    branch: optional(text({ description: 'default: the default branch' })),
    file: { ...text({ maxLength: 1000 }), default: 'CHANGELOG.md' },
    message: optional(longText('commit message')),
  }),
  reply: null,
  handle: async (call, { id, branch, file, message, ...request }) => {
    const code = await findCodeForPush(call, id);
    await commitSection(call, code, request, {
      branch: branch ?? code.project.default_branch ?? 'main',
      file,
      message: message ?? `Add changelog for version ${request.version}`,
    });
    return new Answer(null, { status: 200 });
  },
});

export const changelogRoutes = [show, add];
