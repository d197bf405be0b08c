/** Exports the metrics of the registry to OpenTelemetry: the same as in `/metrics`, read at each export, under the same names. */
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime, millisToHrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type HistogramMetricData,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

/** Sample of a metric in prom-client. */
interface Sample {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
  /** With the suffix of a histogram's parts. */
  readonly metricName?: string;
}

interface Interval {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** prom-client's type is a string, although its declaration says a number. */
type CollectedMetric = { readonly name: string; readonly help: string; readonly type: unknown; readonly values: readonly Sample[] };

/** @returns the metrics for a metric reader */
export function registryMetrics(registry: Registry, scope: { readonly name: string; readonly version: string }): MetricProducer {
  const startTime = millisToHrTime(performance.timeOrigin);
  return {
    async collect() {
      const interval = { startTime, endTime: hrTime() };
      const collected = (await registry.getMetricsAsJSON()) as unknown as readonly CollectedMetric[];
      const metrics = collected.map((metric) => describe(metric, interval)).filter((metric) => metric !== undefined);
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
    },
  };
}

/** @returns undefined for a summary; there are none */
function describe({ name, help, type, values }: CollectedMetric, interval: Interval): MetricData | undefined {
  const common = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = () => values.map(({ labels, value }) => ({ ...interval, attributes: labels as Attributes, value }));
  if (type === 'counter') return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
  if (type === 'histogram') return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, interval) };
  return undefined;
}

type HistogramPoint = HistogramMetricData['dataPoints'][number];

/** Prometheus buckets are cumulative, those of OpenTelemetry are not. */
function histograms(values: readonly Sample[], interval: Interval): HistogramPoint[] {
  const series = new Map<string, { attributes: Attributes; boundaries: number[]; upTo: number[]; sum: number; count: number }>();
  for (const { labels, value, metricName = '' } of values) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    const one = series.get(key) ?? { attributes: attributes as Attributes, boundaries: [], upTo: [], sum: 0, count: 0 };
    series.set(key, one);
    if (metricName.endsWith('_sum')) one.sum = value;
    else if (metricName.endsWith('_count')) one.count = value;
    else if (le !== undefined && le !== '+Inf') {
      one.boundaries.push(Number(le));
      one.upTo.push(value);
    }
  }
  return [...series.values()].map(({ attributes, boundaries, upTo, sum, count }): DataPoint<HistogramPoint['value']> => {
    const counts = [...upTo, count].map((below, index) => below - (upTo[index - 1] ?? 0));
    return { ...interval, attributes, value: { buckets: { boundaries, counts }, sum, count } };
  });
}
