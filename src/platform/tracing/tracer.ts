/**
 * Makes spans of requests, work and what they do, and sends them to a collector as OTLP over HTTP, in JSON. Nothing
 * waits for the collector; spans that it does not take in time are dropped and counted.
 */
import { type TraceContext, parseTraceparent } from './trace_context.ts';

export type SpanKind = 'internal' | 'server' | 'client';

export type Span = {
  context: Pick<TraceContext, 'trace_id' | 'span_id' | 'parent_id'>;
  name: string;
  kind: SpanKind;
  /** Time of `performance.now()`. */
  started: number;
  ended: number;
  isFailed: boolean;
  attributes: Readonly<Record<string, string | number>>;
};

export type Tracer = {
  /** Begins the trace of a request or of work. @param traceparent header of the caller */
  enter: (traceparent?: unknown) => TraceContext;
  /** Makes the context of something that the request or work does. */
  child: (context: TraceContext) => TraceContext;
  /** Keeps a span until it is sent. */
  add: (span: Span) => void;
  /** Returns the numbers of sent and dropped spans. */
  counts: () => { sent: number; dropped: number };
  /** Sends what is left, within a second. */
  stop: () => Promise<void>;
};

export type TracerParts = {
  /** Such as `http://127.0.0.1:4318`. */
  endpoint: string;
  /** Further headers of requests to it. */
  headers: Readonly<Record<string, string>>;
  service: string;
  version: string;
  instance: string;
  /** Share of new traces that are sent, from 0 to 1. */
  ratio: number;
  random: (bytes: number) => Buffer;
  /** Called with the first failure of a series. */
  onFailure: (error: unknown) => void;
};

const maxKept = 4_096;
const maxBatch = 512;
/** Milliseconds between two batches, for one request, and for the last one. */
const pauses = { batch: 2_000, request: 5_000, last: 1_000 };

const kinds: Record<SpanKind, number> = { internal: 1, server: 2, client: 3 };

const toValue = (value: string | number): object =>
  typeof value === 'string' ? { stringValue: value } : { doubleValue: value };

const toAttributes = (attributes: Span['attributes']): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));

/** Nanoseconds since 1970, which exceed what numbers hold. */
const toNanoseconds = (at: number): string =>
  String(BigInt(Math.round((performance.timeOrigin + at) * 1_000)) * 1_000n);

const toOtlp = ({ context, name, kind, started, ended, isFailed, attributes }: Span): object => ({
  traceId: context.trace_id,
  spanId: context.span_id,
  ...(context.parent_id !== null && { parentSpanId: context.parent_id }),
  name,
  kind: kinds[kind],
  startTimeUnixNano: toNanoseconds(started),
  endTimeUnixNano: toNanoseconds(ended),
  attributes: toAttributes(attributes),
  status: isFailed ? { code: 2 } : {},
});

const makeBody = ({ service, version, instance }: TracerParts, spans: readonly Span[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: toAttributes({
            'service.name': service,
            'service.version': version,
            'service.instance.id': instance,
          }),
        },
        scopeSpans: [{ scope: { name: 'gantry', version }, spans: spans.map(toOtlp) }],
      },
    ],
  });

const post = async (parts: TracerParts, spans: readonly Span[], limit: number): Promise<void> => {
  const response = await fetch(`${parts.endpoint.replace(/\/$/, '')}/v1/traces`, {
    method: 'POST',
    headers: { ...parts.headers, 'content-type': 'application/json' },
    body: makeBody(parts, spans),
    redirect: 'error',
    signal: AbortSignal.timeout(limit),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the collector answered ${response.status}`);
};

/** Starts a tracer; it runs until it is stopped. */
export const startTracer = (parts: TracerParts): Tracer => {
  const kept: Span[] = [];
  const counts = { sent: 0, dropped: 0 };
  let isFailing = false;
  let sending: Promise<void> | null = null;
  const newId = (bytes: number): string => parts.random(bytes).toString('hex');

  const sendBatch = async (limit: number): Promise<void> => {
    const spans = kept.splice(0, maxBatch);
    try {
      await post(parts, spans, limit);
      counts.sent += spans.length;
      isFailing = false;
    } catch (error) {
      counts.dropped += spans.length;
      if (!isFailing) parts.onFailure(error);
      isFailing = true;
    }
  };
  const flush = (): void => {
    if (sending !== null || kept.length === 0) return;
    sending = sendBatch(pauses.request).finally(() => {
      sending = null;
      if (kept.length >= maxBatch) flush();
    });
  };
  const timer = setInterval(flush, pauses.batch).unref();

  return {
    enter: (traceparent) => {
      const parent = parseTraceparent(traceparent);
      const isSampled = parent?.isSampled ?? parts.random(4).readUInt32BE() < parts.ratio * 2 ** 32;
      const trace_id = parent?.trace_id ?? newId(16);
      return { trace_id, span_id: newId(8), parent_id: parent?.span_id ?? null, isSampled };
    },
    child: ({ trace_id, span_id, isSampled }) => ({
      trace_id,
      span_id: newId(8),
      parent_id: span_id,
      isSampled,
    }),
    add: (span) => {
      if (kept.length >= maxKept) {
        counts.dropped += 1;
        return;
      }
      kept.push(span);
      if (kept.length === maxBatch) flush();
    },
    counts: () => ({ ...counts }),
    stop: async () => {
      clearInterval(timer);
      await sending;
      if (kept.length > 0) await sendBatch(pauses.last);
    },
  };
};
