import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads deliveries (cases.mjs) from standard input and prints what the sample in Java says of each. */
final class Driver {
    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder output = new StringBuilder();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            output.append(judge(line.split("\t", -1))).append('\n');
        }
        System.out.print(output);
    }

    private static String judge(String[] fields) {
        Map<String, List<String>> headers = new TreeMap<>();
        List<String> names = List.of("Service-timestamp", "Service-signature", "Service-event-id");
        for (int index = 0; index < names.size(); index++) {
            if (!fields[index + 1].equals("-")) {
                // The server of the JDK writes names so, and reads values as Latin-1.
                String value = new String(decode(fields[index + 1]), StandardCharsets.ISO_8859_1);
                headers.put(names.get(index), List.of(value));
            }
        }
        List<String> secrets = fields[5].equals("-") ? List.of() : Stream.of(fields[5].split(",", -1))
                .map(secret -> new String(decode(secret), StandardCharsets.UTF_8)).toList();
        try {
            Map<String, Object> event =
                    Verify.verify(decode(fields[0]), headers, secrets, Long.parseLong(fields[4]));
            return "ok\t" + Base64.getEncoder().encodeToString(write(event).getBytes(StandardCharsets.UTF_8));
        } catch (Verify.VerificationException refused) {
            return refused.getMessage();
        } catch (IllegalArgumentException refused) {
            return refused.getMessage().equals("at most 8 secrets") ? "configuration" : refused.toString();
        }
    }

    /** JSON again. */
    private static String write(Object value) {
        if (value instanceof Map<?, ?> members) {
            return members.entrySet().stream().map(member -> write(member.getKey()) + ":" + write(member.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> values) {
            return values.stream().map(Driver::write).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof String text) {
            return text.chars().mapToObj(unit -> String.format("\\u%04x", unit)).collect(Collectors.joining("", "\"", "\""));
        }
        return String.valueOf(value);
    }

    private static byte[] decode(String field) {
        return field.equals("-") ? null : Base64.getDecoder().decode(field);
    }
}
