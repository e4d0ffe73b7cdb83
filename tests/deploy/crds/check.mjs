// Reads objects as JSON from stdin and validates each with the schema of its kind. Prints one line for each failure.
import { ScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject";
import { TriggerAuthentication } from "@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication";
import { PrometheusRule } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";
import { text } from "node:stream/consumers";

const kinds = { ScaledObject, TriggerAuthentication, PrometheusRule, ServiceMonitor };
for (const object of JSON.parse(await text(process.stdin))) {
  try {
    new kinds[object.kind](object).validate();
  } catch (error) {
    console.log(`${object.kind}: ${error.message}`);
  }
}
