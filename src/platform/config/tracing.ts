/** Settings of traces for a collector that accepts OTLP over HTTP. They have the names of OpenTelemetry. */
import { type Field, readMatching, readUrl } from './parse_values.ts';

export type TracingConfig = {
  /** null: nothing is traced. */
  trace_endpoint: string | null;
  /** Further headers of requests to the collector. */
  trace_headers: Record<string, string>;
  trace_service: string;
  /** Share of new traces that are sent, from 0 to 1. */
  trace_ratio: number;
};

/** Reads `name=value,name=value` with escapes as in URLs. */
const readHeaders = (text: string): Record<string, string> => {
  const parts = text === '' ? [] : text.split(',');
  const entries = parts.map((part) => /^\s*([\w-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(part));
  if (entries.includes(null)) throw new Error('must be NAME=VALUE, separated by commas');
  return Object.fromEntries(
    entries.map((entry) => [entry?.[1]?.toLowerCase() ?? '', decodeURIComponent(entry?.[2] ?? '')]),
  );
};

const readRatio = (text: string): number => {
  if (!/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(text)) throw new Error('must be a number from 0 to 1');
  return Number(text);
};

export const tracingFields: { [N in keyof TracingConfig]: Field<TracingConfig[N]> } = {
  trace_endpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: null,
    meaning:
      'URL of a trace collector that accepts OTLP over HTTP, such as http://127.0.0.1:4318; default: tracing is disabled',
    read: readUrl(['http:', 'https:']),
  },
  trace_headers: {
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    default: '',
    meaning: 'headers for that collector, NAME=VALUE, separated by commas',
    secret: true,
    read: readHeaders,
  },
  trace_service: {
    variable: 'OTEL_SERVICE_NAME',
    default: 'gantry',
    meaning: 'name of this service in traces',
    read: readMatching(/^[\x20-\x7e]{1,100}$/, '1 to 100 printable characters'),
  },
  trace_ratio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    meaning: 'share of traces that are sent, from 0 to 1; requests with a traceparent follow its flag',
    read: readRatio,
  },
};
