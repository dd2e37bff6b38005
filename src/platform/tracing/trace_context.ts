/** Trace ids as they pass between services: the header `traceparent` of the W3C. Pure. */

export type TraceContext = {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** Span of the current request or work; 16 hexadecimal digits. */
  span_id: string;
  /** Id of the caller's span; null if the trace begins here. */
  parent_id: string | null;
  /** True if spans are sent to the collector. */
  isSampled: boolean;
};

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

type Parent = Pick<TraceContext, 'trace_id' | 'span_id' | 'isSampled'>;

/** Parses the header; null if it is missing or invalid, and a new trace begins. */
export const parseTraceparent = (header: unknown): Parent | null => {
  if (typeof header !== 'string') return null;
  const [, version = 'ff', trace_id = '', span_id = '', flags = '00'] = pattern.exec(header) ?? [];
  const isLonger = header.length > 55;
  if (version === 'ff' || (version === '00' && isLonger)) return null;
  if (/^0*$/.test(trace_id) || /^0*$/.test(span_id)) return null;
  return { trace_id, span_id, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

export const formatTraceparent = ({ trace_id, span_id, isSampled }: TraceContext): string =>
  `00-${trace_id}-${span_id}-${isSampled ? '01' : '00'}`;
