import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.gitlab4j.api.utils.JacksonJson;

/**
 * Reads a list of JSON values from standard input and decodes each into a class of the client library. Prints one line
 * for each: its name, and "decoded" or what failed.
 */
public class Decode {
    private static Class<?> find(String name) throws ClassNotFoundException {
        return Class.forName("org.gitlab4j.api." + name);
    }

    private static String decode(JacksonJson json, JsonNode answer) {
        String type = answer.get("type").asText();
        JsonNode body = answer.get("body");
        try {
            if (!type.startsWith("[]")) {
                json.unmarshal(find(type), body.toString());
                return "decoded";
            }
            Class<?> kind = find(type.substring(2));
            for (JsonNode one : body) {
                json.unmarshal(kind, one.toString());
            }
            return "decoded";
        } catch (Exception error) {
            return "failed: " + String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
        }
    }

    public static void main(String[] args) throws Exception {
        JacksonJson json = new JacksonJson();
        for (JsonNode answer : new ObjectMapper().readTree(System.in)) {
            System.out.println(answer.get("name").asText() + "\t" + decode(json, answer));
        }
    }
}
