import type { Config } from '../config.ts';

/** Where SSH is answered, as clients reach it. @param baseUrl ours */
const sshAddress = (
  baseUrl: string,
  { ssh_external, ssh_listen }: Pick<Config, 'ssh_external' | 'ssh_listen'>,
): { host: string; port: number } =>
  ssh_external ?? { host: new URL(baseUrl).hostname, port: ssh_listen?.port ?? 22 };

/** What a project's path is put behind: `git@host:`, or with its port where that is another one than usual. */
export const sshPrefix = (baseUrl: string, config: Pick<Config, 'ssh_external' | 'ssh_listen'>): string => {
  const { host, port } = sshAddress(baseUrl, config);
  return port === 22 ? `git@${host}:` : `ssh://git@${host}:${port}/`;
};
