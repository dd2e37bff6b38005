/** Runs one command of an authenticated client. */
import type { ServerChannel } from 'ssh2';
import type { Cause } from '../../core/access/audit.ts';
import type { Platform } from '../../core/platform.ts';
import { anonymous } from '../../core/access/viewer.ts';
import { isNotFound } from '../../platform/errors.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import { TooManyFetches } from '../git_http/fetch_limit.ts';
import { createForPush } from '../git_http/create_by_push.ts';
import { type Admitted, type Manner, openFetch, openPush } from '../git_http/open_transfers.ts';
import { type Project, anyProject, findProject } from '../../projects/projects/find.ts';
import { sshPrefix } from '../../projects/projects/ssh_url.ts';
import { type GitUser, refusalTexts, transferProblem } from '../../code/repository/refs/transfer_access.ts';
import { isGitProtocolEnabled } from '../../core/settings/setting_effects.ts';
import { type GitCommand, parseGitCommand } from './parse_command.ts';
import type { CommandFacts, CommandWatch, Outcome } from './watch_commands.ts';
import { type KeyUser, deployKeyIn, noteKeyUse, reloadKeyUser, viewerOfUser } from './key_user.ts';

export type SshSite = {
  platform: Platform;
  /** Base of the URLs shown to the pusher. */
  baseUrl: string;
  commands: CommandWatch;
};

export type SshClient = { keyId: number; ip: string; software: string };

/** Ends the command with a message on the client's standard error. */
class Refusal extends Error {}

const projectByPath = async (platform: Platform, user: GitUser, path: string): Promise<Project | null> => {
  try {
    const { db } = platform.store;
    return await findProject({ db, viewer: user.viewer }, path);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
};

type SshUser = { user: GitUser; project: Project | null };

const asUser = async (
  platform: Platform,
  user: NonNullable<KeyUser['user']>,
  { ip, software }: SshClient,
  path: string,
): Promise<SshUser> => {
  if (user.state === 'blocked') throw new Refusal('Your account has been blocked.');
  const source = { ip, userAgent: software };
  const cause: Cause = { user: { id: user.id }, sudo_by_id: null, source };
  const who: GitUser = { viewer: await viewerOfUser(platform, user), cause, scopes: null, deployKey: null };
  return { user: who, project: await projectByPath(platform, who, path) };
};

/** A deploy key sees only its own projects. */
const asDeployKey = async (platform: Platform, keyId: number, path: string): Promise<SshUser> => {
  const project = await anyProject(platform.store, path);
  const deployKey = project === null ? null : await deployKeyIn(platform, keyId, project.id);
  const user: GitUser = { viewer: anonymous, cause: null, scopes: null, deployKey };
  return { user, project: deployKey === null ? null : project };
};

/** @throws Refusal */
const admit = async (
  { platform, baseUrl }: SshSite,
  client: SshClient,
  { service, path }: GitCommand,
  facts: CommandFacts,
): Promise<Admitted> => {
  if (!isGitProtocolEnabled(platform.settings.current, 'ssh'))
    throw new Refusal('Git access over SSH is not allowed');
  const keyUser = await reloadKeyUser(platform, client.keyId);
  if (keyUser === null) throw new Refusal('The key is not accepted any more.');
  if (keyUser.user !== null) facts.user_id = keyUser.user.id;
  noteKeyUse(platform, keyUser, client.ip);
  const { user, project } =
    keyUser.user === null
      ? await asDeployKey(platform, client.keyId, path)
      : await asUser(platform, keyUser.user, client, path);
  const target = project ?? (await createForPush(platform, user, { service, path, baseUrl }));
  if (target === null) throw new Refusal(refusalTexts.missing);
  if (typeof target === 'string') throw new Refusal(target);
  facts.project_id = target.id;
  const problem = transferProblem(user, target, service);
  if (problem !== null) throw new Refusal(problem);
  const address = `${sshPrefix(baseUrl, platform.config)}${target.full_path}.git`;
  return { user, project: target, path, address, ip: client.ip, baseUrl };
};

/** Parses the protocol version of the client's environment. */
const parseProtocol = (variable: string | undefined): 0 | 1 | 2 => {
  const version = /^version=([12])$/.exec(variable ?? '')?.[1];
  return version === undefined ? 0 : version === '1' ? 1 : 2;
};

const transfer = async (
  site: SshSite,
  channel: ServerChannel,
  { admitted, service, manner }: { admitted: Admitted; service: GitCommand['service']; manner: Manner },
): Promise<void> => {
  const { platform } = site;
  if (service === 'git-upload-pack') {
    const stream = await openFetch(platform, admitted, manner);
    channel.once('close', stream.destroy);
    channel.pipe(stream.writable);
    stream.readable.pipe(channel, { end: false });
    await stream.result;
    return;
  }
  const { stream, leave, answer } = await openPush(platform, admitted, manner);
  channel.once('close', leave);
  channel.pipe(stream.writable);
  answer()
    .on('error', () => undefined)
    .pipe(channel, { end: false });
  await stream.result;
};

const toErrorText = (platform: Platform, error: unknown): string => {
  if (error instanceof Refusal || error instanceof TooManyFetches) return error.message;
  if (!isGitFailure(error)) platform.log.error({ err: error }, 'unexpected error over SSH');
  return 'Gantry is not available at the moment. Try again later.';
};

const getOutcome = (channel: ServerChannel, error: unknown): Outcome => {
  if (error instanceof Refusal || error instanceof TooManyFetches) return 'refused';
  return channel.destroyed ? 'aborted' : 'failed';
};

/** Ends a command: output arrives before the exit code. */
const leaveChannel = (channel: ServerChannel, code: number): void => {
  channel.exit(code);
  channel.end();
};

const complain = (channel: ServerChannel, text: string): void => {
  if (!channel.stderr.destroyed) channel.stderr.write(`remote: ${text}\n`);
  leaveChannel(channel, 1);
};

/** @param protocol value of the environment variable `GIT_PROTOCOL` */
export const runCommand = async (
  site: SshSite,
  client: SshClient,
  channel: ServerChannel,
  { command, protocol }: { command: string; protocol: string | undefined },
): Promise<void> => {
  channel.on('error', () => undefined);
  await site.commands.run(client, async (facts) => {
    try {
      const gitCommand = parseGitCommand(command);
      if (gitCommand === null) throw new Refusal('Disallowed command');
      Object.assign(facts, gitCommand);
      const admitted = await admit(site, client, gitCommand, facts);
      const manner: Manner = { protocol: parseProtocol(protocol), stateless: false };
      await transfer(site, channel, { admitted, service: gitCommand.service, manner });
      leaveChannel(channel, 0);
      return 'ok';
    } catch (error) {
      const outcome = getOutcome(channel, error);
      complain(channel, toErrorText(site.platform, error));
      return outcome;
    }
  });
};

export const welcome = async (
  { platform }: SshSite,
  { keyId }: SshClient,
  channel: ServerChannel,
): Promise<void> => {
  channel.on('error', () => undefined);
  const keyUser = await reloadKeyUser(platform, keyId).catch(() => null);
  const name = keyUser?.user === null || keyUser === null ? 'a deploy key' : `@${keyUser.user.username}`;
  channel.write(`Welcome to Gantry, ${name}!\n`);
  leaveChannel(channel, 0);
};
