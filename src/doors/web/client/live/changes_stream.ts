/**
 * Follows the change log, so that open pages show changes as they happen. One page of the browser, which holds a lock,
 * has the connection, and passes the changes on to the others. If browsers have no locks, each page that is shown
 * has a connection. Changes name a record, nothing of its content: each page reads its own parts again.
 */
const name = 'gantry changes';

/** Milliseconds before a refused connection is tried again. */
const pause = 60_000;

type Change = {
  project_id: number;
  target_type: string;
  target_iid: number | null;
  /** For a pipeline and its jobs. */
  pipeline_id: number | null;
};

/** `MergeRequest 12 3`: kind, project and number of a record. A change of a job counts as one of its pipeline. */
const toTarget = ({ project_id, target_type, target_iid, pipeline_id }: Change): string =>
  pipeline_id === null
    ? `${target_type} ${project_id} ${target_iid ?? ''}`
    : `Pipeline ${project_id} ${pipeline_id}`;

/** Messages about the connection itself. */
const [opened, resumed, refused] = ['opened', 'resumed', 'refused'];

/** Returns whether a page of this browser has the connection. */
const isHeld = async (): Promise<boolean> =>
  (await navigator.locks.query()).held?.some((lock) => lock.name === name) ?? false;

type Reading = {
  /** Passes on targets, and what happens to the connection. */
  tell: (message: string) => void;
  /** True if changes may have been missed since another connection. */
  isLate: boolean;
  signal: AbortSignal;
};

/** Reads the log until the page is left, or the connection is refused. */
const readLog = async ({ tell, isLate, signal }: Reading): Promise<void> =>
  await new Promise((resolve) => {
    const source = new EventSource('/api/v4/changes');
    const end = (): void => {
      source.close();
      resolve();
    };
    source.addEventListener('open', () => tell(isLate ? resumed : opened));
    source.addEventListener('change', ({ data }) => tell(toTarget(JSON.parse(String(data)) as Change)));
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) return;
      tell(refused);
      setTimeout(end, pause);
    });
    signal.addEventListener('abort', end);
  });

/** Callbacks of the page. */
const hearers = new Set<(message: unknown) => void>();

const hearAll = (message: unknown): void => hearers.forEach((hear) => hear(message));

/** Shares the connection of the browser: the page reads the log while it holds the lock. */
const connectShared = (signal: AbortSignal): void => {
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }) => hearAll(data));
  signal.addEventListener('abort', () => channel.close());
  const tell = (message: string): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origins
    channel.postMessage(message);
    hearAll(message);
  };
  const run = async (): Promise<void> => {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const isLate = !isFirst || (await isHeld());
      await navigator.locks.request(name, { signal }, async () => await readLog({ tell, isLate, signal }));
    }
  };
  // Leaving the page ends the wait for the lock.
  void run().catch(() => undefined);
};

/** Connects the page by itself. */
const connectAlone = async (signal: AbortSignal, wasHidden: boolean): Promise<void> => {
  for (let isLate = wasHidden; !signal.aborted; isLate = true)
    await readLog({ tell: hearAll, isLate, signal });
};

/** Without TLS, browsers have no locks. */
const canShare = (): boolean => 'locks' in navigator && 'BroadcastChannel' in globalThis;

let leaving = new AbortController();

const connect = (wasHidden: boolean): void => {
  leaving.abort();
  leaving = new AbortController();
  if (canShare()) connectShared(leaving.signal);
  else void connectAlone(leaving.signal, wasHidden);
};

/** Connects the page until the user leaves it. Returns immediately. */
const startConnection = (): void => {
  if (canShare() || document.visibilityState === 'visible') connect(false);
  addEventListener('pagehide', () => leaving.abort());
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) connect(true);
  });
  if (canShare()) return;
  // Without TLS, a browser opens six connections to a host: a hidden page needs none.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') connect(true);
    else leaving.abort();
  });
};

export type Follower = {
  onChange: () => void;
  /** Called when the connection is there, and when it is refused. */
  onConnection: (isOpen: boolean) => void;
};

/**
 * Calls back after each change of a record.
 * @param target as `toTarget` returns it. With a trailing space it matches all targets with this prefix: `Issue 12 `
 * matches the issues of a project, `Issue ` all issues.
 * @returns whether a page of this browser has a connection, or is about to open one
 */
export const followTarget = (target: string, { onChange, onConnection }: Follower): boolean => {
  const isFollowed = (message: unknown): boolean =>
    message === target || (target.endsWith(' ') && String(message).startsWith(target));
  hearers.add((message) => {
    if (message === resumed || isFollowed(message)) onChange();
    if (message === opened || message === resumed) onConnection(true);
    if (message === refused) onConnection(false);
  });
  if (hearers.size === 1) startConnection();
  return canShare();
};
