"""Settings of brokers and topics, with the defaults of each version."""
