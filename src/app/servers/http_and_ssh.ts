import type { FastifyInstance } from 'fastify';
import type { SshSite } from '../../doors/git_ssh/run_command.ts';
import type { SshServer } from '../../doors/git_ssh/server.ts';
import { stopListening } from './listen.ts';

/** Holds the HTTP server, and the SSH server if there is one, to stop both together. */
export const holdServers = (app: FastifyInstance) => {
  let ssh: SshServer | null = null;
  return {
    addSsh: (server: SshServer): void => void (ssh = server),
    stop: async (): Promise<void> => void (await Promise.all([stopListening(app), ssh?.stop()])),
    cut: (): void => {
      app.server.closeAllConnections();
      ssh?.cut();
    },
  };
};

/** Starts the SSH server if it is configured, and returns its port. Its module is loaded only then. */
export const listenToSsh = async (
  site: SshSite,
  servers: ReturnType<typeof holdServers>,
): Promise<number | null> => {
  const { ssh_listen } = site.platform.config;
  if (ssh_listen === null) return null;
  const { startSsh } = await import('../../doors/git_ssh/server.ts');
  const ssh = await startSsh(site, ssh_listen);
  servers.addSsh(ssh);
  return ssh.port;
};
