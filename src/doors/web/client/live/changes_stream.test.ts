/** Follows changes on a page without locks, as browsers have none without TLS, with a fake page and network. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { followTarget } from './changes_stream.ts';

type Listener = (event: object) => void;

const { document, navigator, addEventListener, EventSource } = globalThis as Record<string, unknown>;
after(() => {
  for (const [name, value] of Object.entries({ document, navigator, addEventListener, EventSource }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
});

class FakeSource {
  static readonly all: FakeSource[] = [];
  static readonly CLOSED = 2;
  readonly listeners = new Map<string, Listener>();
  readonly path: string;
  isClosed = false;
  constructor(path: string) {
    this.path = path;
    FakeSource.all.push(this);
  }
  addEventListener = (name: string, listener: Listener): void => void this.listeners.set(name, listener);
  close = (): void => void (this.isClosed = true);
  emit = (name: string, data: object = {}): void =>
    this.listeners.get(name)?.({ data: JSON.stringify(data) });
}

const nextTurn = async (): Promise<void> => await new Promise((done) => void setImmediate(done));

test('a page without locks has one connection while it is shown', async () => {
  let changeVisibility = (): void => undefined;
  const fakeDocument = {
    visibilityState: 'visible',
    addEventListener: (_name: string, listener: () => void) => void (changeVisibility = listener),
  };
  const fakes = {
    document: fakeDocument,
    navigator: {},
    addEventListener: () => undefined,
    EventSource: FakeSource,
  };
  for (const [name, value] of Object.entries(fakes))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const heard: string[] = [];
  const follow = (target: string): void => {
    followTarget(target, {
      onChange: () => void heard.push(target),
      onConnection: (isOpen) => void heard.push(`${target}: ${isOpen}`),
    });
  };
  const change = (iid: number) => ({
    project_id: 12,
    target_type: 'Issue',
    target_iid: iid,
    pipeline_id: null,
  });
  follow('Issue 12 3');
  follow('Issue 12 ');
  follow('Issue 1 ');
  const [source, ...others] = FakeSource.all;
  assert.deepEqual([source?.path, others.length], ['/api/v4/changes', 0]);
  source?.emit('open');
  assert.deepEqual(heard.splice(0), ['Issue 12 3: true', 'Issue 12 : true', 'Issue 1 : true']);
  source?.emit('change', change(3));
  assert.deepEqual(heard.splice(0), ['Issue 12 3', 'Issue 12 ']);
  source?.emit('change', change(34));
  assert.deepEqual(heard.splice(0), ['Issue 12 ']);
  fakeDocument.visibilityState = 'hidden';
  changeVisibility();
  assert.equal(source?.isClosed, true);
  fakeDocument.visibilityState = 'visible';
  changeVisibility();
  await nextTurn();
  // What changed meanwhile is in no event, so that the page is read again.
  FakeSource.all[1]?.emit('open');
  assert.deepEqual([FakeSource.all.length, heard.slice(0, 2)], [2, ['Issue 12 3', 'Issue 12 3: true']]);
});
