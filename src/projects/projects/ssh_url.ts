import type { Config } from '../../platform/config/fields.ts';

/** Returns the address of the SSH server for clients. @param baseUrl public base URL of this service */
const sshAddress = (
  baseUrl: string,
  { ssh_external, ssh_listen }: Pick<Config, 'ssh_external' | 'ssh_listen'>,
): { host: string; port: number } =>
  ssh_external ?? { host: new URL(baseUrl).hostname, port: ssh_listen?.port ?? 22 };

/** Returns the prefix of SSH URLs: `git@host:`, or with the port if it is not 22. */
export const sshPrefix = (baseUrl: string, config: Pick<Config, 'ssh_external' | 'ssh_listen'>): string => {
  const { host, port } = sshAddress(baseUrl, config);
  return port === 22 ? `git@${host}:` : `ssh://git@${host}:${port}/`;
};
