/**
 * Git over SSH: one account, `git`, for all users, who are identified by their keys. No shell, no forwarding, two
 * commands.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2 from 'ssh2';
import type { AuthContext, Connection, ServerChannel, Session } from 'ssh2';
import type { Config } from '../../platform/config/fields.ts';
import { matchNetworks } from '../../platform/addresses/match_networks.ts';
import { StartFailure } from '../../platform/errors.ts';
import { findKeyUser } from './key_user.ts';
import { guardSockets } from './socket_limits.ts';
import { type SshClient, type SshSite, runCommand, welcome } from './run_command.ts';

export type SshServer = {
  port: number;
  /** Stops accepting connections, and resolves when the running commands have ended. */
  stop: () => Promise<void>;
  /** Closes all connections immediately. */
  cut: () => void;
};

const maxAttempts = 10;
/** Milliseconds after which a connection without a running command is closed. */
const idlePatience = 60_000;
const keepaliveInterval = 30_000;
const maxSessions = 10;
const limits = {
  connections: 1_000,
  ofOneAddress: 50,
  signIn: 30_000,
  // Ten keys of the largest size, each with its signature, are 50 KB.
  signInBytes: 128 * 1024,
  close: 2_000,
};

/**
 * Key exchanges that all clients in use have. The groups of 6,144 and 8,192 bits take up to 20 ms of CPU before anybody
 * is authenticated.
 */
const keyExchanges: ssh2.KexAlgorithm[] = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group14-sha256',
  'diffie-hellman-group16-sha512',
];

/** Verifies the signature; null without one, when the client asks whether the key is acceptable. */
const isSigned = (context: AuthContext): boolean | null => {
  if (context.method !== 'publickey') return false;
  const { key, blob, signature, hashAlgo } = context;
  if (signature === undefined || blob === undefined) return null;
  const parsed = ssh2.utils.parseKey(`${key.algo} ${key.data.toString('base64')}`);
  const publicKey = Array.isArray(parsed) ? parsed[0] : parsed;
  if (publicKey === undefined || publicKey instanceof Error) return false;
  return publicKey.verify(blob, signature, hashAlgo) === true;
};

type Claim = { keyId: number; isProven: boolean };

/** Finds the key that the client authenticates with; null: none that is accepted. */
const findClaimedKey = async (site: SshSite, context: AuthContext): Promise<Claim | null> => {
  if (context.method !== 'publickey' || context.username !== 'git') return null;
  const keyUser = await findKeyUser(site.platform, context.key.data);
  // Before the signature: an attacker could choose a key that is slow to check.
  if (keyUser === null) return null;
  const signed = isSigned(context);
  return signed === false ? null : { keyId: keyUser.key.id, isProven: signed === true };
};

/** @param onCommand called when a command begins; returns a callback for its end */
const serveSession = (
  site: SshSite,
  client: SshClient,
  session: Session,
  onCommand: () => () => void,
): void => {
  let protocol: string | undefined;
  const begin = (accept: () => ServerChannel | undefined): ServerChannel | null => {
    // A session runs one command: a second one is not accepted.
    const channel = accept();
    if (channel === undefined) return null;
    channel.once('close', onCommand());
    return channel;
  };
  session.on('env', (accept, _reject, { key, val }) => {
    if (key === 'GIT_PROTOCOL') protocol = val;
    (accept as (() => void) | undefined)?.();
  });
  session.on('exec', (accept, _reject, { command }) => {
    const channel = begin(accept);
    if (channel !== null) void runCommand(site, client, channel, { command, protocol });
  });
  session.on('shell', (accept) => {
    const channel = begin(accept);
    if (channel !== null) void welcome(site, client, channel);
  });
  // Events without a listener are refused: terminals, forwarding, other subsystems.
};

/** Returns a function that closes the connection once no command runs on it. */
const serveClient = (site: SshSite, client: SshClient, connection: Connection): (() => void) => {
  let stopping = false;
  let closed = false;
  let open = 0;
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  const hurry = (on: boolean): void => {
    clearTimeout(timer);
    // Channels of a destroyed connection close after it.
    if (on && !closed) timer = setTimeout(() => connection.end(), idlePatience);
  };
  const onCommand = (): (() => void) => {
    running += 1;
    hurry(false);
    return () => {
      running -= 1;
      if (running > 0) return;
      if (stopping) connection.end();
      else hurry(true);
    };
  };
  hurry(true);
  connection.on('close', () => {
    closed = true;
    clearTimeout(timer);
  });
  connection.on('session', (accept, reject) => {
    if (stopping || open >= maxSessions) {
      reject();
      return;
    }
    open += 1;
    const session = accept();
    // Also fires for a session without a command.
    session.once('close', () => void (open -= 1));
    serveSession(site, client, session, onCommand);
  });
  return () => {
    stopping = true;
    if (running === 0) connection.end();
  };
};

/**
 * Returns a function that closes the connection: immediately before authentication, afterwards once no command runs on
 * it.
 */
const serveConnection = (
  site: SshSite,
  connection: Connection,
  { ip, software }: Omit<SshClient, 'keyId'>,
  onSignedIn: () => void,
): (() => void) => {
  const { log } = site.platform;
  let leave = (): void => void connection.end();
  let keyId: number | null = null;
  let attempts = 0;
  connection.on('error', () => undefined);
  // A second key exchange is for long transfers. Each costs as much as the first.
  connection.on('rekey', () => {
    if (keyId === null) connection.end();
  });
  connection.on('authentication', (context) => {
    attempts += 1;
    if (attempts > maxAttempts) {
      connection.end();
      return;
    }
    findClaimedKey(site, context)
      .then((claim) => {
        if (claim === null) return context.reject(['publickey']);
        if (claim.isProven) keyId = claim.keyId;
        context.accept();
      })
      .catch((error: unknown) => {
        log.error({ err: error }, 'a sign-in over SSH failed');
        connection.end();
      });
  });
  connection.on('ready', () => {
    if (keyId === null) {
      connection.end();
      return;
    }
    onSignedIn();
    leave = serveClient(site, { keyId, ip, software }, connection);
  });
  return () => leave();
};

/** Tells which peers name their clients in a header. From any other, such a header is refused as no SSH. */
const proxyMatcher = ({ ssh_proxy_protocol, trusted_proxies }: Config): ((address: string) => boolean) =>
  ssh_proxy_protocol ? matchNetworks(trusted_proxies) : () => false;

/** @param listen port 0 takes any free one */
export const startSsh = async (
  site: SshSite,
  listen: NonNullable<Config['ssh_listen']>,
): Promise<SshServer> => {
  const connections = new Map<Connection, () => void>();
  const ssh = new ssh2.Server(
    {
      hostKeys: [site.platform.secrets.ssh_host_key],
      ident: 'Gantry',
      algorithms: { kex: keyExchanges },
      keepaliveInterval,
      keepaliveCountMax: 3,
    },
    (connection, { ip, port, header }) => {
      connection.once('close', () => connections.delete(connection));
      const client = { ip: sockets.addressOf({ ip, port }), software: header.versions.software };
      const leave = serveConnection(site, connection, client, () => sockets.release({ ip, port }));
      connections.set(connection, leave);
    },
  );
  // Before a client has sent its version, `ssh` reports no connection.
  const sockets = guardSockets(limits, {
    isProxy: proxyMatcher(site.platform.config),
    take: (socket) => ssh.injectSocket(socket),
    onMissingHeader: (proxy) =>
      site.platform.log.warn({ proxy }, 'a trusted proxy sent no PROXY header to the SSH port'),
  });
  const { server } = sockets;
  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StartFailure(
      `cannot answer SSH on ${listen.host}:${listen.port} (${(error as Error).message})`,
    );
  }
  server.on('error', (error: Error) => site.platform.log.error({ err: error }, 'SSH server'));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      for (const leave of connections.values()) leave();
      await closed.promise;
    },
    cut: sockets.destroyAll,
  };
};
