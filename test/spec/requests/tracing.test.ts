/** Traces for a collector, and what the log says of requests and slow statements. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { countStatement, runMetered } from '../../../src/platform/db/statement_meter.ts';
import { startOperationWatch } from '../../../src/app/service/watch/observe_operations.ts';
import { readConfig } from '../../../src/platform/config/read_config.ts';
import { seedProject } from '../../support/seed.ts';
import { startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { startTestService } from '../../support/service.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
/** Trace of a request that causes background work. */
const causeTrace = 'c'.repeat(32);
const caller = '00f067aa0ba902b7';
const traceparent = (flags: string): { traceparent: string } => ({
  traceparent: `00-${trace}-${caller}-${flags}`,
});

type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; doubleValue?: number } }[];
};

const valueOf = ({ attributes }: Span, key: string): string | number | undefined => {
  const { stringValue, doubleValue } = attributes.find((one) => one.key === key)?.value ?? {};
  return stringValue ?? doubleValue;
};

test('spans of a request, its statements, its calls to git and of work reach the collector', async () => {
  const receiver = await startHookReceiver();
  const gantry = await startTestService({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
    OTEL_SERVICE_NAME: 'gantry-of-the-test',
  });
  const { id } = await seedProject(gantry);
  await gantry.api('PUT /application/settings', {
    json: { allow_local_requests_from_hooks_and_services: true },
  });
  await gantry.api(`POST /projects/${id}/hooks`, {
    json: { url: `${receiver.url}/hook`, issues_events: true },
  });
  await gantry.api(`GET /projects/${id}/repository/branches`, { headers: traceparent('01') });
  await gantry.api(`GET /projects/${id}?statistics=true`, { headers: traceparent('00') });
  const cause = { traceparent: traceparent('01').traceparent.replace(trace, causeTrace) };
  await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'traced' }, headers: cause });
  await gantry.service.worker.drain();
  await gantry.close();

  const batches = receiver.received.filter(({ path }) => path === '/v1/traces');
  assert.ok(batches.length > 0);
  assert.equal(batches[0]?.headers['authorization'], 'Basic abc');
  const { resource } = batches[0]?.body.resourceSpans[0] ?? {};
  assert.deepEqual(resource.attributes[0], {
    key: 'service.name',
    value: { stringValue: 'gantry-of-the-test' },
  });
  const spans: Span[] = batches.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans);

  const ours = spans.filter(({ traceId }) => traceId === trace);
  const request = ours.find(({ parentSpanId }) => parentSpanId === caller);
  assert.ok(request !== undefined);
  assert.equal(request.name, 'GET /api/v4/projects/:id/repository/branches');
  assert.deepEqual([request.kind, valueOf(request, 'gantry.project_id')], [2, id]);
  const inner = ours.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  assert.equal(inner.length, ours.length - 1, 'an unsampled request adds nothing');
  const isGit = ({ name }: Span): boolean => name.startsWith('gitd ');
  assert.ok(inner.some(isGit), 'calls to git');
  const statements = inner.filter((span) => !isGit(span));
  assert.equal(statements.length, valueOf(request, 'gantry.statements'));
  assert.match(String(valueOf(statements[0]!, 'db.query.text')), /select/i);
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    assert.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano));

  const [hook] = receiver.received.filter(({ path }) => path === '/hook');
  const sent = /^00-(\w{32})-(\w{16})-01$/.exec(hook?.headers['traceparent'] ?? '');
  const work = spans.find(({ spanId }) => spanId === sent?.[2]);
  assert.equal(work?.name.startsWith('work '), true, 'the trace of the delivery goes on at the receiver');
  const caused = spans.filter(({ traceId }) => traceId === causeTrace);
  const create = caused.find(({ parentSpanId }) => parentSpanId === caller);
  assert.match(create?.name ?? '', /^POST .*\/issues$/);
  assert.equal(sent?.[1], causeTrace, 'the work joins the trace of its cause');
  const isBelow = (span: Span): boolean => {
    const parent = caused.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === create || (parent !== undefined && isBelow(parent));
  };
  assert.ok(work !== undefined && isBelow(work), 'the delivery lies below the request');
  await receiver.close();
});

test('a collector that is away costs nothing but its spans', async () => {
  const receiver = await startHookReceiver();
  await receiver.close();
  const gantry = await startTestService({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    GANTRY_LOG_LEVEL: 'warn',
  });
  assert.equal((await gantry.api('GET /version')).status, 200);
  await gantry.close();
  const warnings = gantry
    .logged()
    .filter((line) => line.includes('sending spans to the trace collector failed'));
  assert.equal(warnings.length, 1);
});

test('settings of traces are checked', () => {
  const read = (name: string, text: string) => () => readConfig({}, { [name]: text });
  for (const text of ['2', '-1', '.5', 'half', '1.5'])
    assert.throws(read('OTEL_TRACES_SAMPLER_ARG', text), /from 0 to 1/);
  assert.equal(read('OTEL_TRACES_SAMPLER_ARG', '0.25')().config.trace_ratio, 0.25);
  for (const text of ['a', 'a b=c', 'a=b,,'])
    assert.throws(read('OTEL_EXPORTER_OTLP_HEADERS', text), /NAME=VALUE/);
  assert.throws(read('OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'), /OTEL_EXPORTER_OTLP_ENDPOINT/);
});

test('the log has the path without secrets, and the project', async () => {
  const gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  const { id } = await seedProject(gantry);
  const before = gantry.logged().length;
  await gantry.api(`GET /projects/${id}/issues?search=hunter2hunter2`);
  await fetch(`${gantry.url}/-/unsubscribe/hunter2hunter2`);
  await fetch(`${gantry.url}/api/v4/projects/${id}/uploads/hunter2hunter2/a.png`);
  await fetch(`${gantry.url}/nowhere/${'x'.repeat(2_000)}`);
  await gantry.close();
  const lines = gantry.logged().slice(before);
  assert.doesNotMatch(lines.join(''), /hunter2/);
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  assert.deepEqual(
    requests.map(({ path, project_id }) => [path.slice(0, 60), project_id]),
    [
      [`/api/v4/projects/${id}/issues`, id],
      ['/-/unsubscribe/:token', undefined],
      ['/api/v4/projects/:id/uploads/:secret/:filename', id],
      [`/nowhere/${'x'.repeat(51)}`, undefined],
    ],
  );
  assert.equal(requests[3].path.length, 500);
});

test('slow statements are logged with what they belong to, without values', () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const watch = startOperationWatch({ log, slowStatement: 100, tracer: null });
  const about = { request_id: 'of-the-test' };
  runMetered({ statements: 0, milliseconds: 0, about }, () => {
    countStatement('select fast', performance.now());
    countStatement('select slow where id = ?', performance.now() - 150);
  });
  watch.stop();
  countStatement('select later', performance.now() - 150);
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'slow statement');
  assert.deepEqual(
    logged.map(({ sql, request_id, ms }) => [sql, request_id, ms >= 150]),
    [['select slow where id = ?', 'of-the-test', true]],
  );
  assert.match(watch.text(), /^gantry_slow_statements_total 1$/m);
});
